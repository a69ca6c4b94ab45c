package secrets

import (
	"encoding/json"
	"encoding/xml"
	"strings"
	"testing"
)

// TestConnectionStrings has passwords of connection strings in each form of their grammar: the whole value is masked, nothing else is, and the
// value that it stands for is known.
func TestConnectionStrings(t *testing.T) {
	type form struct{ text, secret, value string }
	var forms []form
	for _, c := range []string{",", "&", "'", `"`, "<", ">", "}", ")", "]", `\`, " ", "{", "(", "$", "%", "=", ":", "@", "/"} {
		v := "Qn55F" + c + "wGQ589tx"
		for _, name := range []string{"Password", "Pwd", "AccountKey", "User Password"} {
			forms = append(forms, form{"Server=a;Database=b;" + name + "=" + v + ";Encrypt=true", v, v})
			forms = append(forms, form{name + " = " + v + ";Server=a", v, v})
			forms = append(forms, form{"Server=tcp:a,1433;Database=b;" + name + "=" + v, v, v})
		}
	}
	for _, v := range []string{"$(d95VrKT637xb", "$1d95VrKT637xb", "<d95VrKT637xb", "${x}d95VrKT637xb", "{d95VrKT637xb", "%d95VrKT637x"} {
		forms = append(forms, form{"Server=a;Password=" + v + ";Encrypt=true", v, v})
	}
	forms = append(forms,
		form{`Server=a;Password="Chgg83VCnj22""Tmdj97WTkt42";Encrypt=true`, `Chgg83VCnj22""Tmdj97WTkt42`, `Chgg83VCnj22"Tmdj97WTkt42`},
		form{`Server=a;Password='Chgg83VCnj22''Tmdj97WTkt42'`, `Chgg83VCnj22''Tmdj97WTkt42`, `Chgg83VCnj22'Tmdj97WTkt42`},
		form{`Server=a;Password="Chgg83;VCnj22";Encrypt=true`, `Chgg83;VCnj22`, `Chgg83;VCnj22`},
		form{`Driver={SQL Server};UID=sa;PWD={JV}}Gzws35GSjm86};Database=d`, `{JV}}Gzws35GSjm86}`, `JV}Gzws35GSjm86`},
		form{`Driver={SQL Server};UID=sa;PWD={JV;Gzws35GSjm86}`, `{JV;Gzws35GSjm86}`, `JV;Gzws35GSjm86`},
		form{`<add name="x" connectionString="Server=a;Password=&quot;Gzws35G;Sjm86&quot;;Encrypt=true" providerName="y" />`, "Gzws35G;Sjm86", "Gzws35G;Sjm86"},
		form{`<add name="x" connectionString="Server=&quot;a&quot;;Password=Gz,ws35&amp;GSjm86" providerName="y" />`, "Gz,ws35&amp;GSjm86", "Gz,ws35&GSjm86"},
		form{`{"Shop": "Server=a;Password=\"Gzws35G;Sjm86\";Encrypt=true", "x": 1}`, `Gzws35G;Sjm86`, `Gzws35G;Sjm86`},
	)
	quoteAll := func(f form) []form {
		j, _ := json.Marshal(f.text)
		s, _ := json.Marshal(f.secret)
		var x, y strings.Builder
		_ = xml.EscapeText(&x, []byte(f.text))
		_ = xml.EscapeText(&y, []byte(f.secret))
		return []form{f, {`{"a": ` + string(j) + `, "b": "c"}`, strings.Trim(string(s), `"`), f.value}, {`<add connectionString="` + x.String() + `" name="b" />`, y.String(), f.value}}
	}
	for _, f := range forms {
		all := []form{f}
		if !strings.HasPrefix(f.text, "<") && !strings.HasPrefix(f.text, "{") {
			all = quoteAll(f)
		}
		for _, f := range all {
			m := NewMasker()
			m.Learn(f.text)
			got, want := m.Text(f.text), strings.Replace(f.text, f.secret, Mask, 1)
			if got != want && strings.ReplaceAll(got, `\`+Mask, Mask) != want {
				t.Errorf("%s\n becomes %s\n     not %s", f.text, got, want)
			}
			if got := m.Text("a copy of " + f.value + " here"); got != "a copy of "+Mask+" here" {
				t.Errorf("%s: the value is not known: %s", f.text, got)
			}
		}
	}
}

// TestNoConnectionStrings has placeholders, and code that is no connection string.
func TestNoConnectionStrings(t *testing.T) {
	for _, text := range []string{"Server=a;Password=${DB_PASSWORD};Encrypt=true", "Server=a;Password=$(DbPassword);x=y", "Server=a;Password=<password>;x=y", "Server=a;Password=%PW%;x=y",
		"Server=a;Password={{ .Values.password }};x=y", "Server=a;Password={0};x=y", "Server=a;Password=$DB_PASSWORD;x=y", "Server=a;Password=;x=y", "Server=a;Password=***;x=y",
		`<add connectionString="Server=a;Password=;Encrypt=true" />`} {
		if got := NewMasker().Text(text); got != text {
			t.Errorf("%s becomes %s", text, got)
		}
	}
}
