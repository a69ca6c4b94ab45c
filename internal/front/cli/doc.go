// Package cli is the command line of sosgo: the table of commands, their option syntax, the interactive prompt, exit
// codes and messages. It is the only package that prints. It computes no answers; the packages in commands do.
//
// Start with Main, which runs a command line, and Command, an entry of the table. A command receives parsed options,
// an output and a session in its Context.
package cli
