package answer

import (
	"errors"
	"time"

	"github.com/sosgo/sosgo/target"
)

// A NamedValue is a setting: a name and its value.
type NamedValue struct {
	Name   string `json:"name" doc:"its name"`
	Value  Text   `json:"value" doc:"its value as text" text:"+ = %| =;cut 200"`
	Hidden bool   `json:"hidden,omitempty" doc:"the value looks like a secret, or the name like that of one, and is not shown" text:"-"`
}

// Process describes how a process was started and configured.
type Process struct {
	Gaps
	PID       uint32         `json:"pid,omitempty" doc:"process id" text:"=Process %;plain"`
	Command   string         `json:"command,omitempty" doc:"executable or command line, as the dump has it" text:"="`
	Arguments []NamedValue   `json:"arguments,omitempty" doc:"the command line as the program got it: args[0] is the program" text:"Command line:|facts;heading"`
	Taken     *time.Time     `json:"taken,omitempty" doc:"when the dump was written" text:"dump written"`
	Started   *time.Time     `json:"started,omitempty" doc:"when the process began" text:"started"`
	Uptime    Maybe[Seconds] `json:"uptime,omitzero" doc:"seconds from the one to the other" text:"up"`

	Environment    []NamedValue    `json:"environment" doc:"environment variables, those of the runtime first" text:"Environment:|facts;heading"`
	Properties     []NamedValue    `json:"properties" doc:"properties of AppContext: what the host and runtimeconfig.json set" text:"Properties of AppContext:|facts;heading"`
	Switches       []NamedValue    `json:"switches" doc:"switches of AppContext that the program set or asked for" text:"Switches of AppContext:|facts;heading"`
	Configurations []Configuration `json:"configurations" doc:"configurations of the host (IConfiguration)" text:"configurations|facts"`
	Absent         []AbsentFact    `json:"absent" doc:"what is not answered, and why" text:"Not answered:|facts;heading"`
}

// A Configuration is a root of Microsoft.Extensions.Configuration.
type Configuration struct {
	Address   target.Addr        `json:"address" doc:"the ConfigurationRoot or ConfigurationManager"`
	Type      Text               `json:"type" doc:"its type"`
	Providers []string           `json:"providers" doc:"its providers; later ones override earlier ones" text:"from"`
	Keys      []ConfigurationKey `json:"keys" doc:"its keys by name"`
}

// A ConfigurationKey is a key of a configuration with its effective value.
type ConfigurationKey struct {
	NamedValue
	Provider   string `json:"provider" doc:"the provider whose value counts" text:"+ (%)"`
	Overridden int    `json:"overridden,omitempty" doc:"how many earlier providers have another value for it" text:"+ (overrides %)"`
}

// Lacks records that something could not be answered, and why. Nil is ignored. Facts that the container or the
// runtime cannot record are not noted as gaps.
func (a *Process) Lacks(what string, err error) {
	if a == nil || err == nil {
		return
	}
	fact, err := absentFact(what, err)
	a.Absent = append(a.Absent, fact)
	if !errors.Is(err, target.ErrUnsupported) {
		a.Note(err)
	}
}
