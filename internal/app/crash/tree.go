package crash

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/target"
)

// exceptionTree describes the exception at a and its causes, each once. It records unreadable parts in g.
func exceptionTree(rt *dac.Runtime, a target.Addr, g *answer.Gaps) answer.ExceptionTree {
	t := trees{rt: rt, gaps: g, seen: map[target.Addr]int{}}
	t.add(a, 0)
	return t.out
}

// trees collects exceptions and their causes.
type trees struct {
	rt   *dac.Runtime
	gaps *answer.Gaps
	out  answer.ExceptionTree
	seen map[target.Addr]int
}

// add appends the exception at a and its causes. It returns the exception's number, or -1 if it is not in the answer.
func (t *trees) add(a target.Addr, depth int) int {
	out := &t.out
	if n, ok := t.seen[a]; ok {
		return n
	}
	if len(out.Exceptions) >= maxExceptions || depth >= maxExceptions {
		t.gaps.Note(target.Unsupportedf("more than %d exceptions cause each other", maxExceptions))
		return -1
	}
	x, err := dac.CodeOf(t.rt).DescribeException(a, dac.ExceptionOptions{})
	if err != nil {
		t.gaps.Note(err)
		return -1
	}
	t.gaps.NoteAll(x.Noted())
	n := len(out.Exceptions)
	t.seen[a] = n
	out.Exceptions, out.Causes = append(out.Exceptions, *x), append(out.Causes, nil)
	causes, err := innerExceptions(t.rt, x)
	if err != nil {
		t.gaps.Note(err)
		out.Omitted = append(out.Omitted, answer.OmittedCauses{Exception: n, Reason: err.Error(), Err: err})
	}
	for _, c := range causes {
		if k := t.add(c, depth+1); k >= 0 {
			out.Causes[n] = append(out.Causes[n], k)
		}
	}
	return n
}
