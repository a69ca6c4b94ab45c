// Package stresslog reads the runtime's stress log: messages that it keeps in memory for each thread, if DOTNET_StressLog is set.
//
// A message is a format string of the runtime's image, with numbers. The image is rarely in the dump: its file provides the strings.
// Shapes are those of the contract StressLog, version 2 of .NET 10 and c1 of .NET 11 (docs/design/datacontracts/StressLog.md and
// src/coreclr/inc/stresslog.h of dotnet/runtime).
//
// Stability: unstable.
package stresslog
