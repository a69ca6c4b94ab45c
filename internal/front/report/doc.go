// Package report formats results for people and for programs: the tables that
// SOS prints, to the character, and one JSON document a command.
//
// Nothing here knows a dump. Every text cell is made safe for a terminal (see [Escape]), because names and strings in a
// dump are whatever the dumped process, or whoever wrote the file, put there.
package report
