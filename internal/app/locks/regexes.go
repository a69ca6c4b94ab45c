package locks

import (
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/internal/base/backtrack"
	"github.com/sosgo/sosgo/internal/base/compilernames"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/objects"
)

// Classes of System.Text.RegularExpressions, .NET Core 3.1 to 11 (Regex.cs, RegexRunner.cs). A runner belongs to the thread that matches with it.
type (
	regex struct {
		_       objects.Shape    `of:"System.Text.RegularExpressions.Regex"`
		Pattern objects.RefField `field:"pattern"`
		Options objects.IntField `field:"roptions"`
		Timeout objects.IntField `field:"internalMatchTimeout._ticks"`
	}
	regexRunner struct {
		_     objects.Shape    `of:"System.Text.RegularExpressions.RegexRunner"`
		Regex objects.RefField `field:"runregex"`
		End   objects.IntField `field:"runtextend"`
	}
)

const (
	regexes         = "System.Text.RegularExpressions."
	nonBacktracking = 0x400   // RegexOptions
	noMatchTimeout  = -10_000 // Regex.InfiniteMatchTimeout, in ticks

	// shortText is the length of texts that have too few ways to matter: two choices at each of 20 characters are a million steps, some milliseconds.
	// The thread is at one of many short matches then.
	shortText = 20
)

// A match is what a thread matches with a regular expression that may take exponential time.
type match struct {
	pattern string
	length  int64 // of the text, in characters
	threads []stand
}

// matches returns the threads that match with regular expressions without a time limit that may take exponential time, by pattern, and the others.
func (s *survey) matches(list []stand) (out []match, rest []stand) {
	for i := range list {
		m, ok, err := s.matchOf(&list[i])
		s.gaps.Note(err)
		if !ok {
			rest = append(rest, list[i])
			continue
		}
		at := slices.IndexFunc(out, func(other match) bool {
			return other.pattern == m.pattern && other.threads[0].method == list[i].method
		})
		if at < 0 {
			at, out = len(out), append(out, m)
		}
		out[at].threads = append(out[at].threads, list[i])
	}
	return out, rest
}

// matchOf returns what a thread matches that a method of the program has called a regular expression from. ok is false for other threads, for
// expressions that take no exponential time or match a short text, and where the thread's runner is not known.
func (s *survey) matchOf(at *stand) (m match, ok bool, err error) {
	if !strings.HasPrefix(at.called, regexes) {
		return m, false, nil
	}
	for root, err := range s.r.walker.Roots(s.ctx, at.thread.Managed, at.thread.OS.Registers) {
		if err != nil || root.Interior || root.Undecoded || root.Object == 0 {
			continue
		}
		o, err := s.r.b.Objects().TrustedObject(root.Object)
		if err != nil {
			return m, false, err
		}
		if runner, x, is, err := shapes.TryBind[*regexRunner](s.r.b, o); is || err != nil {
			if err == nil {
				m, ok, err = s.matchBy(runner, x)
			}
			return m, ok, err
		}
	}
	return m, false, nil
}

func (s *survey) matchBy(runner *regexRunner, at objects.Instance) (m match, ok bool, err error) {
	o, err := runner.Regex.Object(at)
	if err != nil || o.Addr == 0 {
		return m, false, err
	}
	r, x, err := objects.BindObject[*regex](s.r.b, o)
	if err != nil {
		return m, false, err
	}
	limit, err := r.Timeout.Int(x)
	if err != nil || limit != noMatchTimeout {
		return m, false, err
	}
	options, err := r.Options.Uint(x)
	if err != nil || options&nonBacktracking != 0 {
		return m, false, err
	}
	if m.pattern, ok, err = r.Pattern.Text(x, limits.Pattern); !ok || err != nil {
		return m, false, err
	}
	if !backtrack.Exponential(m.pattern) {
		return m, false, nil
	}
	m.length, err = runner.End.Int(at)
	return m, err == nil && m.length > shortText, err
}

// conclude describes the threads that match.
func (m *match) conclude(g *grapher) answer.Verdict {
	at := &m.threads[0]
	threads := words.ThreadMatches.Of(g.name(at.thread))
	if n := len(m.threads); n > 1 {
		threads = words.ThreadsMatch.Of(words.N(n), g.name(at.thread))
	}
	v := answer.Conclude(answer.FindingSpin, words.Matches.Of(threads, words.Text(m.pattern), words.Method(compilernames.Pretty(at.name))), answer.StrengthPossible,
		words.TextMatched.Of(words.Commas(int(m.length))))
	v.Count, v.Show = len(m.threads), showThread(at.thread.Describe(g.s.gaps))
	v.Sites = []answer.Site{{Method: answer.Text{S: at.name}, Does: "matches", Count: len(m.threads)}}
	return v
}
