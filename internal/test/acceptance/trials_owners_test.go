package acceptance_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
)

// owners are the kinds of Owners.cs: the first finding of the leak, and parts of it. Its twins "few" and "ends" are healthy.
var owners = []struct {
	kind    string
	finding answer.FindingKind
	says    []string
}{
	{"handlers", answer.FindingHolder, []string{"10,000 handlers of the event Opened of Mill.Hall", "with 10,000 Mill.Guest, kept by static Mill.Hall.Instance"}},
	{"timers", answer.FindingHolder, []string{"10,000 timers that call Mill.Visitor.Tick"}},
	{"threadstatic", answer.FindingHolder, []string{"kept by thread static Mill.Clerks.drawer in 40 threads"}},
	{"sessions", answer.FindingHolder, []string{"200 Mill.Session hold ", "kept in several ways, among them static Mill.Sessions.byName, static Mill.Sessions.byAge"}},
	{"desks", answer.FindingHolder, []string{"90 Mill.Session hold ", "kept by the stack of a thread, in Mill.Desks.Serve("}},
	{"weaktable", answer.FindingHolder, []string{"most of it by 8,000 Mill.Chart, kept by static Mill.Charts.archive, attached by a ConditionalWeakTable (static Mill.Charts.notes)"}},
	{"interned", answer.FindingHolder, []string{"strings that are interned"}},
	{"copies", answer.FindingHolder, []string{"most of it by 30,000 Mill.Bill, kept by static Mill.Bills.all"}},
	{"emitted", answer.FindingAssemblies, []string{"1,000 assemblies were made at run time"}},
	{"pinned", answer.FindingHandles, []string{"20,000 Pinned handles refer to objects of System.Byte[]"}},
	{"native", answer.FindingNative, []string{"malloc has 4"}},
	{"finalizers", answer.FindingFinalizers, []string{"Mill.Sluice.Finalize()"}},
	{"cache", answer.FindingHolder, []string{"ConcurrentDictionary<System.String, Mill.Page>", "most of it by 12,000 Mill.Page, kept by static Mill.Pages.pages"}},
	{"bucket", answer.FindingHolder, []string{"Dictionary<Mill.Grade, Mill.Sack>", "kept by static Mill.Prices.prices"}},
	{"rates", answer.FindingCollisions, []string{"ConcurrentDictionary<Mill.Grade, System.String>", "kept by static Mill.Rates.rates: 4,000 of 4,000 keys (Mill.Grade) have one hash code"}},
	{"registrations", answer.FindingHolder, []string{"CancellationTokenSource", "10,000 Mill.Sack, kept by static Mill.Closing.closing"}},
	{"promises", answer.FindingHolder, []string{"most of it by 10,000 System.Threading.Tasks.TaskCompletionSource<System.Int32>, kept by static Mill.Orders.pending"}},
	{"backlog", answer.FindingHolder, []string{"LinkedList<Mill.Sack>", "most of it by 10,000 Mill.Sack, kept by static Mill.Backlog.waiting"}},
	{"churn", answer.FindingHolder, []string{"Dictionary<System.Int32, Mill.Sack>", "Mill.Sack, kept by static Mill.Visits.here"}},
	{"columns", answer.FindingHolder, []string{"most of it by 10,000 System.Byte[], kept by static Mill.Register.all"}},
}

// TestOwners checks that the first finding of a leak is its owner, in a process with ordinary stores of 60 MB, and that a triage is silent of
// two healthy twins of it.
func TestOwners(t *testing.T) {
	p := newTrial(t, "Owners.cs")
	for _, c := range owners {
		t.Run(c.kind, func(t *testing.T) {
			out := p.triage(t, c.kind)
			require.NotEmpty(t, out.Findings)
			assert.Equal(t, c.finding, out.Findings[0].Kind)
			for _, says := range c.says {
				assert.Contains(t, out.Findings[0].Text, says)
			}
			switch c.kind {
			case "bucket":
				require.Len(t, out.Findings[0].Clauses, 2)
				assert.Equal(t, "10,000 of 10,000 keys (Mill.Grade) have one hash code: a search compares them one by one", out.Findings[0].Clauses[1].Text)
			case "native":
				require.Len(t, out.Findings[0].Clauses, 2)
				assert.Regexp(t, `^7,000 of its blocks have 40\d\.\d MB, and the field Mill\.Vat\.floor of objects refers to them$`, out.Findings[0].Clauses[1].Text)
			case "pinned":
				c := out.Findings[0].Clauses
				assert.Equal(t, "20,000 of them are in the field Mill.Belt.buffer of objects", c[len(c)-1].Text)
			case "finalizers":
				assert.Regexp(t, `^20,\d\d\d objects await finalization, (19,999|20,000) of them Mill\.Sluice that hold 3\d\.\d MB$`, out.Findings[0].Clauses[1].Text)
			case "columns":
				assert.Len(t, out.Findings, 1, "the register and its column are one holder")
			case "copies":
				assert.Contains(t, out.Findings[0].Next, "waste")
			}
		})
		for _, how := range []string{"few", "ends"} {
			t.Run(c.kind+" "+how, func(t *testing.T) {
				first(t, p.triage(t, c.kind, how), answer.NoFinding, "")
			})
		}
	}
}
