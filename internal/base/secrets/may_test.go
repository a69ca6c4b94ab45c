package secrets

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// mayBe are texts of the forms that have a fast test, and texts that almost have such a form.
var mayBe = []struct {
	text string
	may  func(string) bool
	want bool
}{
	{"postgres://shop:hunter2@db/shop", mayBeURL, true},
	{"https://a/b://c://u:p:w#@d", mayBeURL, true},
	{"https://db:5432/shop?to=a@b", mayBeURL, false},
	{"https://shop@db/a:b@c", mayBeURL, false},
	{"https://shop:@db", mayBeURL, false},
	{"https://a/b:/pc://u:@:w#@d", mayBeURL, true},
	{"https://sh0p2hunter2@db/", mayBeUser, true},
	{"https://sh0p2hunter2:a?b@db/", mayBeUser, true},
	{"https://sh0p2hunter@db/", mayBeUser, false},
	{"app --password hunter2", mayBeOption, true},
	{`["-x","--client-secret", "hunter2"]`, mayBeOption, true},
	{"-my-auth_to\u212aen=hunter2", mayBeOption, true},
	{"a-token=b --to\u00e9 ", mayBeOption, true},
	{"app --password\thunter2", mayBeOption, true},
	{"public-key=3 --pass", mayBeOption, false},
	{"-- keys: --keys=4", mayBeOption, false},
	{`{"Db:Password" : "hunter2"}`, mayBeAssigned, true},
	{`{\"apiKey\": \"hunter2\"}`, mayBeAssigned, true},
	{"Account_Key\n=\thunter2", mayBeAssigned, true},
	{"api-\u212aey=hunter2", mayBeAssigned, true},
	{"credential\u017f=hunter2", mayBeAssigned, true},
	{"CoreLib, PublicKeyToken=7cec85d7bea7798e", mayBeAssigned, false},
	{`{"key": "password", "token" = "secret"}`, mayBeAssigned, false},
	{"=", mayBeAssigned, false},
	{"MotDePasse: x", mayBeAssigned, true},
	{"@__password_1='x'", mayBeAssigned, true},
	{"password1234=x", mayBeAssigned, false},
	{"SET `password` = 'x'", mayBeAssigned, true},
	{"SET [password] = 'x'", mayBeAssigned, true},
	{"password: !!str x", mayBeYAML, true},
	{"password: &a x", mayBeYAML, true},
	{"password: x", mayBeYAML, false},
	{"mysql\t-px", mayBeCommand, true},
	{"az login -p x", mayBeCommand, true},
	{"ldap-p", mayBeCommand, false},
}

// TestMayBe checks the fast tests.
func TestMayBe(t *testing.T) {
	for _, c := range mayBe {
		assert.Equal(t, c.want, c.may(c.text), c.text)
	}
}

// FuzzMayBe: no fast test rejects a text that the expression matches.
func FuzzMayBe(f *testing.F) {
	for _, c := range mayBe {
		f.Add(c.text)
	}
	for _, forms := range named {
		for _, form := range forms {
			f.Add(form)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, form := range forms() {
			if form.may != nil && len(form.matches(text)) > 0 && !form.may(text) {
				t.Errorf("%s: %q", form.kind, text)
			}
		}
	})
}
