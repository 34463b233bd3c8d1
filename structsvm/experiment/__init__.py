"""The experiment of Yue, Finley, Radlinski and Joachims (SIGIR 2007, sections 4 and 5), on anyone's runs."""
