// Package typecmd holds the commands about types and code. Each turns its options into a call of the library and
// names the renderer of the answer. It computes nothing itself. Start with Commands.
package typecmd

import "github.com/sosgo/sosgo/internal/front/cli"

// Commands returns the commands of the group.
func Commands() []cli.Command {
	return cli.In(cli.GroupTypes,
		dumpMTCommand(),
		dumpClassCommand(),
		dumpSigCommand(),
		dumpSigElemCommand(),
		dumpMDCommand(),
		ip2mdCommand(),
		dumpILCommand(),
		gcInfoCommand(),
		ehInfoCommand(),
		clruCommand(),
		name2EECommand(),
		token2EECommand(),
		dumpModuleCommand(),
		dumpAssemblyCommand(),
		dumpDomainCommand(),
		findAppDomainCommand(),
		dumpALCCommand(),
		contextsCommand(),
		tiersCommand(),
		dumpRuntimeTypesCommand(),
		staticsCommand(),
		typesCommand(),
	)
}
