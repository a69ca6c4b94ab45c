package secrets

import (
	"regexp"
	"strings"
	"sync"
)

// A published is a kind of keys in the form that a service publishes, so that its keys are recognized in any text.
type published struct {
	service string
	// heads are what is literally the same in all keys, with spaces between several kinds. A key is found by its head.
	heads string
	// tail is an expression for what follows the head.
	tail string
	// before, if not "", is an expression for what a key has before its head: as many characters as width says, least and most.
	before string
	width  [2]int
	// drawn is set if names in programs have this form, too: a key counts only if it looks drawn at random.
	drawn bool
}

// Parts of the forms.
const (
	guid    = `[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`
	letters = `[A-Za-z0-9]`
)

// publishedKeys has the forms of keys, as their services document them.
var publishedKeys = []published{
	{service: "AWS access keys", heads: "AKIA ASIA ABIA ACCA", tail: `[A-Z2-7]{16}`},
	{service: "AWS Bedrock, long-lived", heads: "ABSK", tail: `[A-Za-z0-9+/]{80,}={0,2}`},
	{service: "AWS Bedrock, short-lived", heads: "bedrock-api-key-", tail: `[A-Za-z0-9+/_-]{28,}={0,2}`},
	{service: "AWS session tokens", heads: "IQoJb3JpZ2lu FwoGZXIvYXdz", tail: `[A-Za-z0-9+/]{80,}={0,2}`}, // "origin" and "er/aws" in base64 after the marks of two versions
	{service: "GitHub", heads: "ghp_ gho_ ghu_ ghs_ ghr_", tail: letters + `{36,251}`},
	{service: "GitHub Apps, stateless", heads: "ghs_", tail: `\w{1,24}_eyJ[\w-]+\.[\w-]+\.[\w-]+`},
	{service: "GitHub, fine-grained", heads: "github_pat_", tail: `\w{40,}`},
	{service: "GitLab", heads: "glpat- gldt- glrt- glrtr- glptt- glcbt- glsoat- gloas- glft- glimt- glagent- glffct- glwt-", // those that say where they belong end with a length and a checksum
		tail: `[\w-]{20,}(?:(?:\.[0-9a-z]{2})?\.[0-9a-z]{9})?`},
	{service: "Slack", heads: "xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xoxc-", tail: `[A-Za-z0-9-]{10,}`},
	{service: "Slack's cookie", heads: "xoxd-", tail: `[A-Za-z0-9%+/=-]{10,}`},
	{service: "Slack, app level", heads: "xapp-", tail: `[0-9]-[A-Za-z0-9-]{10,}`},
	{service: "Stripe", heads: "sk_live_ sk_test_ rk_live_ rk_test_ sk_org_live_ sk_org_test_", tail: letters + `{16,}`},
	{service: "Stripe's and Svix's web hooks", heads: "whsec_", tail: `[A-Za-z0-9+/=]{16,}`},
	{service: "ElevenLabs", heads: "sk_", tail: `[0-9a-f]{48}\b`},
	{service: "Google API keys", heads: "AIza", tail: `[\w-]{35}`},
	{service: "Google API keys that belong to an account", heads: "AQ.A", tail: `[\w-]{35,}`},
	{service: "Google OAuth clients", heads: "GOCSPX-", tail: `[\w-]{20,}`},
	{service: "Google OAuth access tokens", heads: "ya29.", tail: `[\w-]{20,}`},
	{service: "Google OAuth refresh tokens", heads: "1//0", tail: `[\w-]{40,}`},
	{service: "SendGrid", heads: "SG.", tail: `[\w-]{16,}\.[\w-]{16,}`},
	{service: "npm", heads: "npm_", tail: letters + `{36}`},
	{service: "PyPI", heads: "pypi-", tail: `[\w-]{50,}`},
	{service: "DigitalOcean", heads: "dop_v1_ doo_v1_ dor_v1_", tail: `[0-9a-f]{64}`},
	{service: "Hugging Face", heads: "hf_", tail: letters + `{30,}`},
	{service: "Hugging Face, organizations", heads: "api_org_", tail: letters + `{34}\b`},
	{service: "OpenAI, Anthropic", heads: "sk-", tail: `(?:proj-|ant-|svcacct-|admin-)?[\w-]{20,}`, drawn: true},
	{service: "Shopify", heads: "shpat_ shpca_ shppa_ shpss_ shpua_", tail: `[0-9a-fA-F]{32}`},
	{service: "HashiCorp Vault", heads: "hvs. hvb. hvr.", tail: `[\w-]{24,}`},
	{service: "HashiCorp Terraform", before: letters + `{14}`, width: [2]int{14, 14}, heads: ".atlasv1.", tail: `[\w=-]{60,}`},
	{service: "Docker Hub", heads: "dckr_pat_ dckr_oat_", tail: `[\w-]{20,}`},
	{service: "NuGet", heads: "oy2", tail: `[a-z0-9]{43}`},
	{service: "New Relic, users", heads: "NRAK-", tail: `[A-Z0-9]{27}`},
	{service: "New Relic, inserting", heads: "NRII-", tail: `[A-Za-z0-9_-]{32}`},
	{service: "New Relic, licences", before: `(?:[0-9a-f]{32}|[a-z]{2}01xx[0-9a-f]{26})`, width: [2]int{32, 32}, heads: "FFFFNRAL", tail: `\b`},
	{service: "Azure Storage", heads: "AccountKey=", tail: `[A-Za-z0-9+/]{86}==`},
	{service: "Azure's keys with a checksum", before: letters + `{52}`, width: [2]int{52, 52}, heads: "JQQJ99", tail: letters + `{26}\b`},
	{service: "Azure Functions", before: `[\w-]{44}`, width: [2]int{44, 44}, heads: "AzFu", tail: `[\w-]{5}[AQgw]==`},
	{service: "Azure Search", before: letters + `{42}`, width: [2]int{42, 42}, heads: "AzSe", tail: letters + `{6}\b`},
	{service: "Microsoft Entra clients", before: `[A-Za-z0-9_~.-]{3}`, width: [2]int{3, 3}, heads: "7Q~ 8Q~ 9Q~", tail: `[A-Za-z0-9_~.-]{31,34}`},
	{service: "ASP.NET Core's data protection", heads: "CfDJ8", tail: `[\w-]{20,}`}, // antiforgery tokens, cookies
	{service: "Databricks", heads: "dapi dose doau", tail: `[0-9a-f]{32}(?:-\d)?`},
	{service: "Telegram bots", before: `\d{8,10}`, width: [2]int{8, 10}, heads: ":AA", tail: `[\w-]{33}`},
	{service: "Grafana service accounts", heads: "glsa_", tail: letters + `{32}_[0-9a-fA-F]{8}`},
	{service: "Grafana Cloud", heads: "glc_", tail: `[A-Za-z0-9+/=]{32,}`},
	{service: "Atlassian", heads: "ATATT3 ATCTT3", tail: `[\w=-]{20,}`},
	{service: "Bitbucket", heads: "ATBB", tail: letters + `{32}`},
	{service: "Figma", heads: "figd_ figr_ figod_ figor_ figud_ figur_", tail: `[\w-]{40,}`},
	{service: "Postman", heads: "PMAK-", tail: `[0-9a-f]{24}-[0-9a-f]{34}`},
	{service: "Linear", heads: "lin_api_ lin_oauth_ lin_wh_", tail: letters + `{40,}`},
	{service: "Notion", heads: "secret_", tail: letters + `{43}`},
	{service: "Notion, since 2024", heads: "ntn_", tail: letters + `{40,}`},
	{service: "Mailgun", heads: "key-", tail: `[0-9a-f]{32}`},
	{service: "Mailchimp", before: `[0-9a-f]{32}`, width: [2]int{32, 32}, heads: "-us", tail: `[0-9]{1,2}\b`},
	{service: "Twilio", heads: "SK0 SK1 SK2 SK3 SK4 SK5 SK6 SK7 SK8 SK9 SKa SKb SKc SKd SKe SKf", tail: `[0-9a-f]{31}`},
	{service: "Brevo", heads: "xkeysib- xsmtpsib-", tail: `[0-9a-f]{64}-` + letters + `{16}`},
	{service: "Doppler", heads: "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", tail: `[\w.-]{40,}`},
	{service: "Sentry", heads: "sntrys_ sntryu_", tail: `[\w=+/-]{40,}`},
	{service: "Dynatrace", heads: "dt0", tail: `[a-z]\d{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}`},
	{service: "PlanetScale", heads: "pscale_tkn_ pscale_pw_ pscale_oauth_", tail: `[\w.=-]{32,}`},
	{service: "RubyGems", heads: "rubygems_", tail: `[0-9a-f]{48}`},
	{service: "Pulumi", heads: "pul-", tail: `[0-9a-f]{40}`},
	{service: "age", heads: "AGE-SECRET-KEY-1", tail: `[0-9A-Z]{58}`},
	{service: "Groq", heads: "gsk_", tail: letters + `{40,}`},
	{service: "xAI", heads: "xai-", tail: letters + `{40,}`},
	{service: "Replicate", heads: "r8_", tail: letters + `{30,}`},
	{service: "NVIDIA", heads: "nvapi-", tail: `[\w-]{30,}`},
	{service: "Perplexity", heads: "pplx-", tail: letters + `{40,}`},
	{service: "LangSmith", heads: "lsv2_pt_ lsv2_sk_", tail: `[0-9a-f]{32}_[0-9a-f]{10}`},
	{service: "Pinecone", heads: "pcsk_", tail: letters + `{5,6}_` + letters + `{63}`},
	{service: "Supabase, accounts", heads: "sbp_", tail: `(?:v0_)?[0-9a-f]{40}`},
	{service: "Supabase, projects", heads: "sb_secret_", tail: `[\w-]{20,}`, drawn: true},
	{service: "Square", heads: "sq0atp- sq0csp-", tail: `[\w-]{22,}`},
	{service: "Square access tokens", heads: "EAAA", tail: `[\w-]{56,60}\b`, drawn: true},
	{service: "PostHog", heads: "phx_", tail: letters + `{40,}`},
	{service: "Fly.io", heads: "fo1_ fm2_", tail: `[\w+/=-]{32,}`},
	{service: "HubSpot", heads: "pat-na pat-eu", tail: `\d-` + guid},
	{service: "Airtable", heads: "pat", tail: letters + `{14}\.[0-9a-f]{64}`},
	{service: "Buildkite", heads: "bkua_", tail: `[0-9a-f]{40}`},
	{service: "Buildkite, clusters", heads: "bkct_", tail: `[\w-]{40,}`},
	{service: "CircleCI", heads: "CCIPAT_ CCIPRJ_", tail: letters + `{16,}_[0-9a-f]{40}`},
	{service: "Sourcegraph", heads: "sgp_", tail: `(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}`},
	{service: "Apify", heads: "apify_api_", tail: letters + `{36}`},
	{service: "Tailscale", heads: "tskey-", tail: `[a-z]+-[A-Za-z0-9]+-` + letters + `{20,}`},
	{service: "1Password", heads: "ops_eyJ", tail: `[\w-]{40,}`},
	{service: "Typeform", heads: "tfp_", tail: `\w{40,}`},
	{service: "Shippo", heads: "shippo_live_ shippo_test_", tail: `[0-9a-f]{40}`},
	{service: "Dropbox", heads: "sl.", tail: `(?:u\.)?[\w-]{40,}`},
	{service: "Braintree", heads: "access_token$", tail: `(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}`},
	{service: "Cloudflare", heads: "cfut_ cfat_ cfk_", tail: letters + `{40}[0-9a-f]{8}`},
	{service: "Cloudflare, origins", heads: "v1.0-", tail: `[0-9a-f]{24}-[0-9a-f]{146}`},
	{service: "Netlify", heads: "nfp_", tail: letters + `{36}`},
	{service: "Vercel", heads: "vcp_ vci_ vca_ vcr_ vck_", tail: `[\w-]{24,}`, drawn: true},
	{service: "Resend", heads: "re_", tail: letters + `{8}_` + letters + `{24}\b`, drawn: true},
	{service: "Heroku", heads: "HRKU-AA", tail: `[\w-]{58}`},
	{service: "Contentful", heads: "CFPAT-", tail: `[\w-]{43}`},
	{service: "Neon", heads: "napi_", tail: `[a-z0-9]{40,}`},
	{service: "SonarQube", heads: "squ_ sqp_ sqa_", tail: `[0-9a-f]{40}`},
	{service: "SonarQube Cloud", heads: "sqco_", tail: letters + `{59}`},
	{service: "JFrog API keys", heads: "AKCp", tail: letters + `{69}`},
	{service: "JFrog reference tokens", heads: "cmVmdGtuO", tail: letters + `{55}`}, // reftkn: in base64
	{service: "LaunchDarkly", heads: "api- sdk-", tail: `[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`},
	{service: "Render", heads: "rnd_", tail: letters + `{28,}`},
	{service: "Plaid", heads: "access-sandbox- access-development- access-production-", tail: guid},
	{service: "Razorpay", heads: "rzp_live_ rzp_test_", tail: letters + `{14}`},
	{service: "EasyPost", heads: "EZAK EZTK", tail: letters + `{54}`},
	{service: "Duffel", heads: "duffel_live_ duffel_test_", tail: `[\w=-]{43}`},
	{service: "Prefect", heads: "pnu_ pnb_", tail: letters + `{36}`},
	{service: "Infracost", heads: "ico-", tail: letters + `{32}`},
	{service: "Snyk", heads: "snyk_uat. snyk_sat.", tail: `[0-9a-f]{8}\.[\w-]{8,}\.[\w-]{8,}`},
	{service: "Confluent", heads: "cflt", tail: `[A-Za-z0-9+/]{60}`},
	{service: "Octopus Deploy", heads: "API-", tail: `[A-Z0-9]{26,}`, drawn: true},
	{service: "OpenShift", heads: "sha256~", tail: `[\w-]{43}`},
	{service: "Alibaba Cloud", heads: "LTAI", tail: letters + `{20}\b`, drawn: true},
	{service: "Clojars", heads: "CLOJARS_", tail: `[0-9a-f]{60}`},
	{service: "ReadMe", heads: "rdme_", tail: `[a-z0-9]{70}`},
	{service: "Flutterwave", heads: "FLWSECK_TEST- FLWSECK-", tail: `[0-9a-f]{32}-X`},
	{service: "Frame.io", heads: "fio-u-", tail: `[\w=-]{64}`},
	{service: "MaxMind", before: letters + `{6}_` + letters + `{29}`, width: [2]int{36, 36}, heads: "_mmk", tail: `\b`},
}

// publishedCues are lower-case substrings: each key of publishedKeys has one.
func publishedCues() (out []string) {
	for _, k := range publishedKeys {
		out = append(out, strings.Fields(strings.ToLower(k.heads))...)
	}
	return out
}

// A keyTable finds the heads of published keys in a text.
type keyTable struct {
	pairs [1 << 13]byte // a bitmap of the first two bytes of all heads
	heads map[uint16][]keyHead
}

// A keyHead is a head of keys, and the expression for a whole key.
type keyHead struct {
	text  string
	width [2]int
	drawn bool
	re    func() *regexp.Regexp
}

var keyHeads = sync.OnceValue(func() *keyTable {
	t := &keyTable{heads: map[uint16][]keyHead{}}
	for _, k := range publishedKeys {
		for _, head := range strings.Fields(k.heads) {
			pair := uint16(head[0]) | uint16(head[1])<<8
			t.pairs[pair>>3] |= 1 << (pair & 7)
			t.heads[pair] = append(t.heads[pair], keyHead{head, k.width, k.drawn, compiled(`^` + k.before + regexp.QuoteMeta(head) + k.tail)})
		}
	}
	return t
})

// inKeys finds the published keys in a text, as a regexp without groups does. Each stands alone or behind an escape, and not within a word.
func inKeys(text string) (out [][]int) {
	t := keyHeads()
	last, done := byte(0), 0
	for i := range len(text) {
		pair := uint16(last) | uint16(text[i])<<8
		last = text[i]
		if t.pairs[pair>>3]&(1<<(pair&7)) == 0 || i-1 < done {
			continue
		}
		for _, h := range t.heads[pair] {
			if !strings.HasPrefix(text[i-1:], h.text) {
				continue
			}
			if from, to, ok := h.at(text, i-1, done); ok {
				out = append(out, []int{from, to})
				done = to
				break
			}
		}
	}
	return out
}

// at returns the place of the key with its head at i. What is before least belongs to another key.
func (h *keyHead) at(text string, i, least int) (from, to int, ok bool) {
	const most = 512 // bytes that are searched first: most keys are shorter
	for n := h.width[1]; n >= h.width[0]; n-- {
		from := i - n
		if from < least || !beginsWord(text, from) {
			continue
		}
		m := h.re().FindStringIndex(text[from:min(len(text), from+most)])
		if m != nil && m[1] == most {
			m = h.re().FindStringIndex(text[from:])
		}
		if m != nil && (!h.drawn || looksGenerated(text[i+len(h.text):from+m[1]])) {
			return from, from + m[1], true
		}
	}
	return 0, 0, false
}

// beginsWord reports whether a word begins at i: no letter or digit is before it that is not the end of an escape.
func beginsWord(text string, i int) bool {
	if i == 0 || text[i-1] != '_' && !isAlphanumeric(text[i-1]) {
		return true
	}
	const longest = len(`\u0041`)
	for at := i - 2; at >= max(0, i-longest); at-- {
		switch text[at] {
		case '\\', '%':
			unit, n := escapeAt(nil, text[at:i])
			return at+n == i && len(unit) == 1 && unit[0] != '_' && !isAlphanumeric(unit[0])
		}
	}
	return false
}
