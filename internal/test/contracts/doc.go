// Package contracts tests the readers of the runtime's contracts on small synthetic processes.
package contracts
