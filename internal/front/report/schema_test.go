package report

import (
	"bytes"
	"encoding/json"
	"iter"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWriteSchema: types are defined once, and a result may be cut while its items are whole.
func TestWriteSchema(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, WriteSchema(&b, []NamedResult{{"x", Result[testAnswer]()}, {"y", Result[owner]()}}))
	var got struct {
		AllOf []struct {
			Then struct {
				Properties struct {
					Result struct {
						Required   []string
						Properties map[string]map[string]any
					}
				}
			}
		}
		Defs map[string]struct {
			Required   []string
			Properties map[string]map[string]any
		} `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal(b.Bytes(), &got))
	result := got.AllOf[0].Then.Properties.Result
	assert.Empty(t, result.Required)
	assert.Equal(t, map[string]any{"type": []any{"string", "null"}, "description": "its name"}, result.Properties["name"])
	assert.Equal(t, map[string]any{"type": "string", "pattern": "^0x[0-9a-f]+$", "description": "its flags"}, result.Properties["flags"])
	assert.Equal(t, map[string]any{"$ref": "#/$defs/testRow"}, result.Properties["rows"]["items"])
	assert.Equal(t, []string{"address"}, got.Defs["testRow"].Required)
	assert.Equal(t, "#/$defs/owner", got.Defs["owner"].Properties["next"]["$ref"], "a type that contains itself")
	assert.Contains(t, got.Defs, "Problem")
}

// TestSchemaOfRows: the rows of an iterator are never null, even if they are pointers; the items of a slice of pointers
// may be.
func TestSchemaOfRows(t *testing.T) {
	ref := node{"$ref": "#/$defs/testRow"}
	document, _ := SchemaOf(NamedResult{"x", Result[iter.Seq2[*testRow, error]]()})
	assert.Equal(t, node{"type": "array", "items": ref}, document["properties"].(node)["result"])
	document, _ = SchemaOf(NamedResult{"x", Result[[]*testRow]()})
	assert.Equal(t, node{"type": "array", "items": node{"anyOf": []node{ref, {"type": "null"}}}}, document["properties"].(node)["result"])
}
