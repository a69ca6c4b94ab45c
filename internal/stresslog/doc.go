// Package stresslog reads the runtime's stress log: messages that it keeps in memory for each thread, if
// DOTNET_StressLog is set. It does not interpret the messages. Start at [Open].
//
// A message is a format string in the runtime's image and numbers. The image is rarely in the dump: its file provides
// the strings. The layouts are version 2 (.NET 10) and c1 (.NET 11) of the contract StressLog
// (docs/design/datacontracts/StressLog.md and src/coreclr/inc/stresslog.h of dotnet/runtime).
package stresslog
