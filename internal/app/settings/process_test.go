package settings_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/settings"
	"github.com/sosgo/sosgo/internal/base/secrets"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

func values(list []answer.NamedValue) map[string]string {
	out := map[string]string{}
	for _, v := range list {
		out[v.Name] = v.Value.String()
	}
	return out
}

// TestProcess finds what the process was started with, and hides the two passwords.
func TestProcess(t *testing.T) {
	v, facts := openSetup(t)
	out, err := settings.Process(t.Context(), v.Process, settings.ProcessOptions{})
	require.NoError(t, err)
	assert.Empty(t, out.Noted())
	assert.Equal(t, facts["pid"], json.Number(jsonText(t, out.PID)).String())
	env := values(out.Environment)
	assert.Equal(t, "0x10000000", env["DOTNET_GCHeapHardLimit"])
	assert.Equal(t, "DOTNET_GCConserveMemory", out.Environment[0].Name, "those of the runtime are first")
	assert.Equal(t, "eu-west", env["SHOP_REGION"])
	assert.Equal(t, secrets.Mask, env["SHOP_PASSWORD"])
	assert.Equal(t, secrets.Mask, env["SHOP_DB"])
	text := jsonText(t, out)
	assert.NotContains(t, text, "hunter")
	assert.Equal(t, "true", values(out.Switches)["Setup.Legacy"])
	assert.Equal(t, "linux-x64", values(out.Properties)["RUNTIME_IDENTIFIER"])
	args := values(out.Arguments)
	assert.Equal(t, "run", args["args[1]"])
	assert.Len(t, args, 2)

	full, err := settings.Process(t.Context(), v.Process, settings.ProcessOptions{Full: true})
	require.NoError(t, err)
	assert.Equal(t, "hunter2", values(full.Environment)["SHOP_PASSWORD"])
}

func jsonText(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return string(b)
}

// TestConfiguration reads the host's configuration of a web server.
func TestConfiguration(t *testing.T) {
	testdump.Web(t, func(t *testing.T, d *testdump.Dump) int {
		v, err := d.View("")
		require.NoError(t, err)
		out, err := settings.Process(t.Context(), v.Process, settings.ProcessOptions{})
		require.NoError(t, err)
		for _, c := range out.Configurations {
			if c.Type.S != "Microsoft.Extensions.Configuration.ConfigurationManager" {
				continue
			}
			keys := map[string]answer.ConfigurationKey{}
			for _, k := range c.Keys {
				keys[k.Name] = k
			}
			assert.Equal(t, "WebDebuggee", keys["applicationName"].Value.S)
			assert.Equal(t, "Memory", keys["applicationName"].Provider)
			assert.Equal(t, "/app", keys["HOME"].Value.S)
			assert.Equal(t, "EnvironmentVariables", keys["HOME"].Provider)
			assert.Contains(t, c.Providers, "Json appsettings.json")
			return len(c.Keys)
		}
		t.Log("the dump has no configuration")
		return 1
	})
}

// TestHide hides the secrets of every list, and options with their values.
func TestHide(t *testing.T) {
	arg := func(s string) answer.NamedValue { return answer.NamedValue{Value: answer.Text{S: s}} }
	p := &answer.Process{Command: "app --token abc", Arguments: []answer.NamedValue{arg("app"), arg("--password"), arg("x"), arg("--apiKey=y"), arg("--port=80"), arg("run"), arg("--no-auth"), arg("--port"), arg("81")},
		Configurations: []answer.Configuration{{Keys: []answer.ConfigurationKey{{NamedValue: answer.NamedValue{Name: "ConnectionStrings:Shop", Value: answer.Text{S: "Server=db"}}}}}}}
	settings.Hide(p)
	assert.Equal(t, secrets.Mask, p.Command)
	var got []bool
	for _, a := range p.Arguments {
		got = append(got, a.Hidden)
	}
	assert.Equal(t, []bool{false, false, true, true, false, false, false, false, false}, got)
	assert.True(t, p.Configurations[0].Keys[0].Hidden)
	settings.Hide(nil)
}

// TestProcessOfAll checks that missing parts have typed reasons in every canned dump.
func TestProcessOfAll(t *testing.T) {
	n := 0
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		v, err := d.View("")
		require.NoError(t, err)
		out, err := settings.Process(t.Context(), v.Process, settings.ProcessOptions{})
		if n++; err != nil {
			assert.True(t, testdump.Typed(err), "%v", err)
			return
		}
		for _, f := range out.Absent {
			assert.True(t, testdump.Typed(f.Err), "%s: %v", f.What, f.Err)
		}
	})
	assert.Greater(t, n, 5)
}

// TestProcessMissingParts repeats the query, each time without one of the pieces of memory that the answer was read
// from.
func TestProcessMissingParts(t *testing.T) {
	testdump.OpenWeb(t, "web-net10").Sweep(t, 60, false, func(v *sosgo.View) (any, []error, error) {
		return testdump.Asked(settings.Process(context.Background(), v.Process, settings.ProcessOptions{}))
	})
}
