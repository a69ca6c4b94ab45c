// Package acceptance contains tests of the whole library and command line on whole dumps: facts
// that the dumped programs printed, damaged and partial dumps, determinism, and agreement between
// runtimes, processors and dump kinds.
package acceptance
