// Package report formats results for people and for programs: the tables that SOS prints, to the character, and one
// JSON document per command. It knows nothing about dumps and computes nothing. Start with Answer and Page.
//
// Every text cell is escaped for a terminal (see [Escape]), because names and strings in a dump may be hostile.
package report
