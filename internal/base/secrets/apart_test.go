package secrets_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/internal/base/secrets"
)

// apart are texts with names for secrets that do not stand just before the secrets, which are between « and ».
var apart = []string{
	// YAML block scalars
	"password: |\n  «hun ter22»\n", "password: |-\n  «hunter22»\nuser: x\n", "db:\n  password: >-\n    «hunter22»\n  user: x\n", "apiKey: |2-\n  «k3y-abc»\n",
	"stringData:\n  password: «hunter22»\n", "password: >\r\n  «hunter22»\r\nuser: x",
	"private_key: |+\n    «abc 123»\n    «def 456»\nuser: x\n",
	"password: !!str «hunter22»\n", "password: &pw «hunter22»\n", "password: !!binary |\n  «aHVudGVyMjI=»\n",
	"? password\n: «hunter22»\n", "password: !!str «hunter22»", "password: &pw «hunter22»",
	// XML
	`<param name="password" value="«hunter22»"/>`, `<property name="db.password" value="«hunter22»" />`, `<property name="password">«hunter22»</property>`,
	`<param value="«hunter22»" name="password"/>`, `<parameter name='clientSecret' value='«hunter22»'/>`, `<add key="ApiKey" value="«hunter22»"/>`, `<add value="«hunter22»" key="ApiKey"/>`,
	`<appSetting key="Password" value="«hunter22»"/>`, `<variable name="Password" value="«hunter22»"/>`, `<env name="DB_PASSWORD" value="«hunter22»"/>`,
	`<environmentVariable name="DB_PASSWORD" value="«hunter22»" />`, `<configItem Name="Secret" Value="«hunter22»" />`, `<user name="x" password="«hunter22»"/>`,
	`<string name="api_key">«hunter22»</string>`, `<key>Password</key><string>«hunter22»</string>`, "<key>Password</key>\n\t<string>«hunter22»</string>",
	`<db:Password>«hunter22»</db:Password>`, `<Password xsi:type="xs:string">«hunter22»</Password>`, `<DbPassword>«hunter22»</DbPassword>`,
	`<wsse:Password Type="x#PasswordText">«hunter22»</wsse:Password>`,
	`<name>DB_PASSWORD</name><value>«hunter22»</value>`, "<name>DB_PASSWORD</name>\n  <value>«hunter22»</value>", `<Key>Password</Key><Value>«hunter22»</Value>`,
	// JSON
	`{"Name":"Password","Value":"«hunter22»"}`, `{"value":"«hunter22»","name":"DB_PASSWORD"}`, `[{"name":"X","value":"y"},{"name":"DB_PASSWORD","value":"«hunter22»"}]`,
	`{"Key":"Password","Value":"«hunter22»"}`,
	`{"key":"ApiKey","type":"string","value":"«hunter22»"}`, `{"id":"password","content":"«hunter22»"}`, `{"OptionName":"Password","OptionValue":"«hunter22»"}`,
	`{"ParameterKey":"DbPassword","ParameterValue":"«hunter22»"}`,
	`{"k":"password","v":"«hunter22»"}`, `{"name":"password", "secure":true, "value": "«hunter22»"}`,
	`{\"name\":\"DB_PASSWORD\",\"value\":\"«hunter22»\"}`,
	`{"password":{"#text":"«hunter22»"}}`, `{"DbPassword":"«hunter22»"}`,
	// docker-compose
	"environment:\n  - DB_PASSWORD=«hunter22»\n  - X=y\n", "environment:\n  - \"DB_PASSWORD=«hunter22»\"\n", "- name: DB_PASSWORD\n  value: \"«hunter22»\"\n",
	"- value: «hunter22»\n  name: DB_PASSWORD\n",
	"- name: DB_PASSWORD\n  value: |\n    «hunter22»\n", "- key: password\n  value: «hunter22»\n", "- { name: DB_PASSWORD, value: «hunter22» }",
	// netrc
	"machine h\nlogin shop\npassword «hunter22»\n", "machine h\n  login shop\n  password «hunter22»", "default login a password «hunter22»",
	"machine h login a account b password «hunter22»", "machine h password «hunter22» login x",
	// pgpass
	"localhost:5432:shop:admin:«hunter22»", "db.example.com:5432:*:admin:«hunter22»\n", "*:*:*:postgres:«hunter22»", "# pgpass\nh:5432:db:u:«hun\\:ter»\n", "h:5432:a:b:«pw1xxx»\nh2:5432:a:b:«pw2xxx»\n",
	// ini
	"[client]\nuser=root\npassword=«hunter22»\n", "[client]\nuser = root\npassword = «hunter22»\n", "password    =   «hunter22»", "password\t=\t«hunter22»",
	"[db]\npassword = «hun ter 22»\n", "aws_secret_access_key = «abc/def+1»",
	"_password = «hunter22»", "//registry.npmjs.org/:_authToken=«abc-def»", "//r/:_auth=«aGVsbG86aHVudGVy»", "set password=«hunter22»", "export DB_PASSWORD=«hunter22»",
	"export DB_PASSWORD='«hun ter»'", "password: '«hun''ter»'",
	"$env:DB_PASSWORD = \"«hunter22»\"", "setx DB_PASSWORD «hunter22»", "ENV DB_PASSWORD «hunter22»",
	// url userinfo
	"https://user:«hunter22»@host/", "https://user:«p@ss»@host/", "redis://:«hunter22»@h", "mongodb+srv://u:«p%40w»@c/", "mongodb://u:«pw1»@a:1,b:2/x",
	"jdbc:oracle:thin:shop/«hunter22»@//h:1521/x", "sqlplus shop/«hunter22»@db",
	"https://oauth2:«a:b»@h/", `"https://user:«hunter22»@host/"`, "https:\\/\\/user:«hunter22»@host\\/",
	// kubeconfig
	"users:\n- name: admin\n  user:\n    token: «q2w3e4r5.t6y7u8i9o0p1»\n", "    client-key-data: «LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQo=»\n",
	"    client-certificate-data: LS0t\n", "    password: «hunter22»\n    username: admin\n", "    id-token: «abc.def.ghi»\n    refresh-token: «q2w3e4r5»\n",
	`"client-key-data":"«LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQo=»"`,
	`{"auths":{"r.io":{"auth":"«c2hvcDpodW50ZXIyMg==»"}}}`,
	// what records of C# print, JavaScript, more forms of JSON
	"Setting { Name = DbPassword, Value = «hun ter22» }", "[{name: 'DB_PASSWORD', value: '«hunter22»'}]", `{"id":"1","label":"password","type":"CONCEALED","value":"«hunter22»"}`,
	`{"a":{"b":[{"name":"x","value":"y"},{"value":"«hunter22»","name":"api_key"}]}}`, `{"name":"DB_PASSWORD","value":"«hunt` + "er22»",
	`"{\\\"name\\\":\\\"DB_PASSWORD\\\",\\\"value\\\":\\\"«hun\\\\\\\"ter\\\"»`[0:0],
	`<add key="DbPassword" value="«C:\dir\x22»" />`, `"<add key=\"DbPassword\" value=\"«hunter22»\" />"`,
	`<a><param name="password"><value>«hunter22»</value></param><b>x</b></a>`, `<add key="Password" value="«hunter22»`,
}

// marked returns a text without « and », and what stood between them.
func marked(form string) (text string, want []string) {
	for {
		before, rest, ok := strings.Cut(form, "«")
		text += before
		if !ok {
			return text, want
		}
		secret, after, _ := strings.Cut(rest, "»")
		want = append(want, secret)
		text += secret
		form = after
	}
}

// TestFindApart finds secrets with names in other fields, attributes, elements and lines.
func TestFindApart(t *testing.T) {
	for _, form := range apart {
		text, want := marked(form)
		var got []string
		for _, s := range secrets.Find(text) {
			got = append(got, text[s.Start:s.End])
		}
		assert.Equal(t, want, got, text)
	}
}

// TestNotFoundApart: fields, attributes and lines that look like secrets are not masked.
func TestNotFoundApart(t *testing.T) {
	for _, text := range []string{
		"password: |\nuser: x\n", "description: |\n  the password of the user\n", "secretName: |\n  shop-db\n", "- name: LOG_LEVEL\n  value: debug\n",
		"- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      name: shop\n      key: pw\n",
		"- name: DB_PASSWORD\n- value: debug\n", "- name: DB_PASSWORD\n  value: $(OTHER)\n", "password:\n  minimum: 12\n", "users:\n- name: admin\n  user:\n    token: none\n", "token: 0000000006000123",
		`<param name="timeout" value="30"/>`, `<property name="passwordLength" value="12"/>`, `<PasswordLength>12</PasswordLength>`, `<key>Name</key><string>x</string>`,
		`<add key="Password" value="" />`, `<add key="Password" value="${DB}" />`,
		`<add key="pwd" value="Password" />`, "List<Password> a; b < c", "<input type=\"password\" name=\"password\" value=\"\">", "<label for=\"password\">Password</label>",
		"<a href=\"/password\">Password</a>", "<Password/><x>y</x>",
		`<param name="a" value="b"/><x>DB_PASSWORD</x>`, `<T>(Secret a) => b</T>`,
		`{"name":"LogLevel","value":"debug"}`, `{"name":"DB_PASSWORD"},{"value":"debug"}`, `{"name":"PasswordLength","value":"12"}`, `{"name":"password","type":"string"}`,
		`{"name":"password","value":null}`, `{"name":"password","in":"query","required":true}`,
		`{"key":"pwd","value":"Password"}`, `{"value":"x","nested":{"name":"password"}}`, `{"properties":{"password":{"type":"string","default":""}}}`,
		`["password","username"]`, "Setting { Name = Timeout, Value = 30 }",
		"10:5432:30:40:a b", "see host:5432: and more", "arn:aws:iam::123:role", "2001:0:4137:9e76:2087", "the default password is used", "default login page",
		"set password for 'bob'", `"auth":"disabled12"`, `"auth":"Negotiate"`, `_auth = bearerOnly`, "sqlplus /nolog", "https:\\/\\/host\\/a@b",
		"https://a@b/c:d@e", "Password: Required, please", "env PASSWORD rules", "ENV PASSWORD_FILE /run/x",
	} {
		assert.Empty(t, secrets.Find(text), text)
	}
}

// TestApartIsLinear: texts of many parts cost a time in proportion to their lengths.
func TestApartIsLinear(t *testing.T) {
	const n = 1 << 18
	for _, part := range []string{`{"password":`, `{"name":"password","value":"x1y2"`, "<password>", `<add key="password" value="x1y2"`, "<![CDATA[password",
		"<name>password</name><", "password: |\n ", "- name: password\n", "  - - - password: !!x", `\\\\"password`,
		"{password=", "password:\n", `<a password="`, `"password\\\\\\`, "password{", "token: !!", " token: a1b2c3d4e5f6g7h8i9\n",
		"authorization:", "authorization: ", "authorization: a b=c,", "authorization=a b=c,authorization=", "role password "} {
		text := strings.Repeat(part, n/len(part))
		start := time.Now()
		secrets.Find(text)
		assert.Less(t, time.Since(start), 20*time.Second, part)
		t.Logf("%-40.40q %v", part, time.Since(start))
	}
}
