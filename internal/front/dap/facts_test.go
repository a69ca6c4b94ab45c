package dap_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-dap"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/testdump"
)

// TestSameFigures checks that an editor sees the same values as the commands print with --json.
func TestSameFigures(t *testing.T) {
	if testing.Short() {
		t.Skip("all canned dumps, one request at a time")
	}
	compared := map[string]int{}
	dumps := 0
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		c, stop := open(t, d.Plain(), map[string]any{"names": "runtime"})
		dumps++
		threads := c.threads()
		want := map[int]bool{}
		for _, row := range rows(document(t, d.Plain(), "threads"), "threads") {
			id, _ := number(row["osId"])
			want[id] = true
		}
		got := map[int]bool{}
		for _, th := range threads {
			got[th.Id] = true
		}
		assert.Equal(t, want, got)
		if crash := document(t, d.Plain(), "crashinfo"); stop.Body.Reason == "exception" {
			if list := rows(crash, "exceptions"); len(list) > 0 {
				assert.Contains(t, stop.Body.Text, list[0]["message"])
			} else {
				assert.Contains(t, []any{crash["reason"], crash["likely"]}, stop.Body.Text)
			}
			if id, ok := number(crash["osThreadId"]); ok {
				assert.EqualValues(t, id, stop.Body.ThreadId)
				compared["crashes"]++
				sameException(t, c, crash, stop.Body.ThreadId)
			}
		}
		frames := map[int][]map[string]any{}
		for _, f := range rows(document(t, d.Plain(), "clrstack", "-all", "-a", "-r", "-native"), "frames") {
			id, _ := number(f["osId"])
			frames[id] = append(frames[id], f)
		}
		for id, list := range frames {
			sameStack(t, c, d.Plain(), id, list, compared)
		}
		sameModules(t, c, document(t, d.Plain(), "modules"), compared)
		ask[*dap.DisconnectResponse](c, "disconnect", nil)
		<-c.ended
	})
	t.Log(dumps, compared)
	for what, least := range map[string]int{"crashes": 3, "frames": 500, "variables": 100, "registers": 500, "fields": 70, "modules": 100} {
		assert.GreaterOrEqual(t, compared[what], least, what)
	}
	assert.GreaterOrEqual(t, dumps, 10)
}

func sameException(t *testing.T, c *client, crash map[string]any, id int) {
	list := rows(crash, "exceptions")
	if len(list) == 0 {
		return
	}
	info := ask[*dap.ExceptionInfoResponse](c, "exceptionInfo", map[string]any{"threadId": id}).Body
	assert.Equal(t, list[0]["type"], info.ExceptionId)
	assert.EqualValues(t, "unhandled", info.BreakMode)
	if m, ok := list[0]["message"].(string); ok {
		assert.Equal(t, m, info.Details.Message)
	}
	n := 0
	var count func(d *dap.ExceptionDetails)
	count = func(d *dap.ExceptionDetails) {
		n++
		for i := range d.InnerException {
			count(&d.InnerException[i])
		}
	}
	count(info.Details)
	assert.GreaterOrEqual(t, n, len(list), "all causes are there")
	for _, f := range rows(list[0], "frames") {
		if function, ok := f["function"].(string); ok {
			assert.Contains(t, info.Details.StackTrace, function)
		}
	}
}

// sameStack compares a thread's frames, and the variables and registers of the first managed ones.
func sameStack(t *testing.T, c *client, dump string, id int, want []map[string]any, compared map[string]int) {
	var got []dap.StackFrame
	for len(got) <= len(want) { // in pages
		page := c.stack(id, len(got), 7)
		got = append(got, page...)
		if len(page) < 7 {
			break
		}
	}
	require.GreaterOrEqual(t, len(got), len(want), "thread %#x", id)
	for i, w := range want {
		g := got[i]
		ip, _ := w["ip"].(string)
		assert.Equal(t, ip, g.InstructionPointerReference)
		if m, ok := w["method"].(string); ok && w["kind"] != "other" {
			if exact, ok := w["exact"].(string); ok {
				m = exact
			}
			assert.Contains(t, g.Name, m)
		}
		if e, ok := w["error"].(string); ok {
			assert.Contains(t, g.Name, e, "why the stack ends")
		}
		if line, ok := number(w["line"]); ok {
			assert.EqualValues(t, line, g.Line)
			assert.Equal(t, w["file"], g.Source.Path)
		}
		compared["frames"]++
		if i >= 12 {
			continue
		}
		if w["kind"] == "managed" {
			sameVariables(t, c, dump, rows(w, "arguments"), c.scope(g.Id, "Arguments"), compared)
			sameVariables(t, c, dump, rows(w, "locals"), c.scope(g.Id, "Locals"), compared)
		}
		registers, _ := w["registers"].(map[string]any)
		for _, r := range c.scope(g.Id, "Registers") {
			assert.Equal(t, registers[r.Name], r.Value)
			compared["registers"]++
		}
	}
}

func sameVariables(t *testing.T, c *client, dump string, want []map[string]any, got []dap.Variable, compared map[string]int) {
	require.Len(t, got, len(want))
	for i, w := range want {
		g := got[i]
		if name, ok := w["name"].(string); ok {
			assert.Equal(t, name, g.Name)
		}
		compared["variables"]++
		value, _ := w["value"].(string)
		switch state := w["state"].(string); {
		case state == "no data":
			assert.Equal(t, "<no data>", g.Value)
		case state != "value":
			assert.True(t, strings.HasPrefix(g.Value, "<"+state+">"), "%s: %s", state, g.Value)
		case strings.HasPrefix(value, "0x") && g.VariablesReference != 0:
			address, _, _ := strings.Cut(value, " ")
			assert.Equal(t, "0x"+strings.TrimLeft(address, "0x"), g.MemoryReference)
			if compared["objects"]%2 == 0 && compared["fields"] < 1500 {
				sameFields(t, c, document(t, dump, "dumpobj", address), g, compared)
			}
			compared["objects"]++
		case !strings.HasPrefix(value, "0x"):
			assert.Equal(t, value, g.Value)
		}
	}
}

// sameFields compares the instance fields of an object, where the editor shows fields.
func sameFields(t *testing.T, c *client, object map[string]any, v dap.Variable, compared map[string]int) {
	assert.Equal(t, object["type"], v.Type)
	if n, ok := number(object["length"]); ok {
		assert.EqualValues(t, n, v.IndexedVariables)
	}
	children := c.variables(v.VariablesReference)
	for _, ch := range children {
		if ch.Name == "Raw view" {
			children = c.variables(ch.VariablesReference)
			break
		}
	}
	at := 0
	for _, f := range rows(object, "fields") {
		if f["kind"] != "instance" {
			continue
		}
		if !assert.Less(t, at, len(children), "%v", f["name"]) {
			return
		}
		g := children[at]
		at++
		compared["fields"]++
		assert.Equal(t, f["name"], g.Name)
		if missing, ok := f["missing"].(string); ok {
			assert.Contains(t, g.Value, missing)
			continue
		}
		switch value := f["value"].(type) {
		case nil:
			if f["text"] == nil {
				assert.Equal(t, "null", g.Value)
			}
		case bool, json.Number:
			if f["text"] == nil {
				assert.Equal(t, fmt.Sprint(value), g.Value)
			}
		case string:
			if strings.HasPrefix(value, "0x") && f["struct"] == nil && g.VariablesReference != 0 {
				assert.Equal(t, value, g.MemoryReference)
			}
		}
	}
}

func sameModules(t *testing.T, c *client, d map[string]any, compared map[string]int) {
	want := rows(d, "modules")
	all := ask[*dap.ModulesResponse](c, "modules", nil).Body
	require.Len(t, all.Modules, len(want))
	for i, w := range want {
		assert.Equal(t, w["path"], all.Modules[i].Path)
		assert.True(t, strings.HasPrefix(all.Modules[i].AddressRange, w["address"].(string)+"-"))
		compared["modules"]++
	}
	if len(want) > 3 {
		page := ask[*dap.ModulesResponse](c, "modules", map[string]any{"startModule": 1, "moduleCount": 2}).Body
		assert.Equal(t, all.Modules[1:3], page.Modules)
		assert.Equal(t, len(want), page.TotalModules)
	}
}
