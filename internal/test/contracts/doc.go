// Package contracts tests the readers of the runtime's contracts over small made processes.
package contracts
