package secrets_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/internal/base/secrets"
)

// TestNamesOfTypes: the names of a process's types stay, whatever a form takes for a secret, and beside its name or form a value that is a part of them
// is masked.
func TestNamesOfTypes(t *testing.T) {
	m := secrets.NewMasker()
	for _, name := range []string{"System.Configuration.Assemblies.AssemblyHashAlgorithm", "System.Collections.Generic.Queue<System.Int64>", "Out.Program+<Iter>c__Iterator0", "System.Object[]"} {
		m.AddName(name)
	}
	m.Learn("password=Configuration")
	m.Learn("password=Iterator")
	m.Learn("password=AssemblyHash")
	m.Learn("password=hunter22")
	m.LearnSetting("DB_PASSWORD", "Program")
	for text, want := range map[string]string{
		"System.Configuration.Assemblies.AssemblyHashAlgorithm":         "System.Configuration.Assemblies.AssemblyHashAlgorithm",
		"password=Configuration;":                                       "password=<hidden>;",
		"DB_PASSWORD=Program;":                                          "DB_PASSWORD=<hidden>;",
		"Out.Program+<Iter>":                                            "Out.Program+<Iter>",
		"an Iterator, hunter22":                                         "an <hidden>, <hidden>",
		"Password = System.Collections.Generic.Queue<System.Int64> (1)": "Password = System.Collections.Generic.Queue<System.Int64> (1)",
		"Password = Out.Program+<Iter>c__Iterator0":                     "Password = Out.Program+<Iter>c__Iterator0",
		"ApiKey = System.Object[5]":                                     "ApiKey = System.Object[5]",
		"Password = System.Collections.Generic.Queue2":                  "Password = <hidden>",
	} {
		assert.Equal(t, want, m.Text(text))
	}
	assert.Equal(t, []string{"Iterator", "hunter22"}, m.Values())
}

// TestFindList finds each of several secrets in a list.
func TestFindList(t *testing.T) {
	m := secrets.NewMasker()
	m.Learn(`{"passwords":["hsc33-a","nfr79-b"],"x":1}`)
	assert.Equal(t, "a <hidden> b <hidden>", m.Text("a hsc33-a b nfr79-b"))
	assert.Equal(t, `{"passwords":["<hidden>","<hidden>"],"x":1}`, m.Text(`{"passwords":["hsc33-a","nfr79-b"],"x":1}`))
}
