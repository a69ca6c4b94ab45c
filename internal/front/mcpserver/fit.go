package mcpserver

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"
)

// maxCuts is the maximum number of cuts that an answer lists.
const maxCuts = 20

// fit cuts the document of a to the budget. It first cuts lists, which the next answer continues. If one item of each
// list is still too large, it cuts inside the items. It returns the maximum number of items of each list, and whether
// more remain.
func fit(a *reply, budget int) (listed int, more bool) {
	doc := a.Document
	parts, _ := doc["lists"].(map[string]any)
	lists := map[string][]any{}
	for name := range parts {
		if l := listOf(doc, name); len(l) > 0 {
			lists[name] = l
			listed = max(listed, len(l))
		}
	}
	if size := len(encode(doc)); size > budget && listed > 0 {
		listed = itemsWithin(lists, size, budget)
		for name, l := range lists {
			setList(doc, name, l[:min(listed, len(l))])
		}
	}
	for name, p := range parts {
		part, _ := p.(map[string]any)
		from, of := number(part["from"]), number(part["of"])
		n := len(listOf(doc, name))
		part["listed"] = n
		more = more || from+n < of
	}
	if len(encode(doc)) > budget {
		a.Document, a.Cut = cutWithin(doc, budget)
	}
	return listed, more && listed > 0
}

// itemsWithin returns the number of items of each list, at least one, that fit into the budget with a document of
// that size.
func itemsWithin(lists map[string][]any, size, budget int) int {
	sizes := map[string][]int{}
	longest := 0
	for name, l := range lists {
		for _, item := range l {
			n := len(encode(item)) + 1
			sizes[name] = append(sizes[name], n)
			size -= n
		}
		longest = max(longest, len(l))
	}
	size += 16 * len(lists) // the numbers of the parts may grow
	for n := range longest {
		for _, l := range sizes {
			if n < len(l) {
				size += l[n]
			}
		}
		if size > budget {
			return max(n, 1)
		}
	}
	return longest
}

// listOf returns a list of a document by name. The name "" is the result itself.
func listOf(doc map[string]any, name string) []any {
	v := doc["result"]
	if result, ok := v.(map[string]any); ok && name != "" {
		v = result[name]
	}
	l, _ := v.([]any)
	return l
}

func setList(doc map[string]any, name string, l []any) {
	if result, ok := doc["result"].(map[string]any); ok && name != "" {
		result[name] = l
		return
	}
	doc["result"] = l
}

func number(v any) int {
	n, _ := v.(json.Number)
	i, _ := n.Int64()
	return int(i)
}

// cutWithin returns the document with its inner lists and its texts cut as far as the budget needs, and what is cut.
func cutWithin(doc map[string]any, budget int) (map[string]any, []string) {
	least, most := 0, 1<<16 // of the number of items that stay
	for least < most {
		middle := (least + most + 1) / 2
		c := cutter{items: middle}
		if len(encode(c.object("", doc))) <= budget {
			least = middle
		} else {
			most = middle - 1
		}
	}
	c := cutter{items: least}
	return c.object("", doc), c.cuts
}

// A cutter copies values with at most so many items of a list, and texts of a length that follows from it.
type cutter struct {
	items int
	cuts  []string
	more  int
}

// textOf is how many bytes of a text stay for each item, beyond leastText.
const textOf, leastText = 16, 80

func (c *cutter) value(path string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		return c.object(path, v)
	case []any:
		out := make([]any, 0, min(len(v), c.items))
		for i := range min(len(v), c.items) {
			out = append(out, c.value(path+"["+strconv.Itoa(i)+"]", v[i]))
		}
		if len(out) < len(v) {
			c.note(fmt.Sprintf("%s: %d of %d items", path, len(out), len(v)))
		}
		return out
	case string:
		end := leastText + textOf*c.items
		if len(v) <= end {
			return v
		}
		for !utf8.RuneStart(v[end]) {
			end--
		}
		c.note(fmt.Sprintf("%s: %d of %d bytes", path, end, len(v)))
		return v[:end] + "…"
	}
	return v
}

func (c *cutter) object(path string, v map[string]any) map[string]any {
	out := make(map[string]any, len(v))
	if path != "" {
		path += "."
	}
	for _, k := range slices.Sorted(maps.Keys(v)) {
		out[k] = c.value(path+k, v[k])
	}
	return out
}

func (c *cutter) note(cut string) {
	switch {
	case len(c.cuts) < maxCuts:
		c.cuts = append(c.cuts, cut)
	default:
		c.more++
		c.cuts = append(c.cuts[:maxCuts], fmt.Sprintf("and %d more; format text has all of it", c.more))
	}
}
