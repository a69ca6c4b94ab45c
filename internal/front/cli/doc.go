// Package cli is the command line of sosgo: the table of commands, their option syntax, the interactive prompt, exit codes and messages. It
// is the only package that prints. What a command answers is the business of the command; this package gives it parsed options, an output
// and a session.
package cli
