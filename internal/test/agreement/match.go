package agreement

// A block is a run of n equal lines, at i in one text and at j in the other.
type block struct{ i, j, n int }

// blocks returns the runs of lines that a and b share, in order. It takes the longest run first,
// and the earliest among equally long ones, and then searches before and after it.
func blocks(a, b []string) []block {
	at := map[string][]int{}
	for j, line := range b {
		at[line] = append(at[line], j)
	}
	m := matcher{a: a, at: at, ending: make([]int, len(b)+1), before: make([]int, len(b)+1)}
	m.search(0, len(a), 0, len(b))
	return m.found
}

type matcher struct {
	a  []string
	at map[string][]int // the positions of each line in b
	// ending[j+1] is the length of the run that ends at b[j]; before is that of the previous line
	// of a.
	ending, before []int
	found          []block
}

// search appends the runs in a[i0:i1] and b[j0:j1].
func (m *matcher) search(i0, i1, j0, j1 int) {
	best := m.longest(i0, i1, j0, j1)
	if best.n == 0 {
		return
	}
	m.search(i0, best.i, j0, best.j)
	m.found = append(m.found, best)
	m.search(best.i+best.n, i1, best.j+best.n, j1)
}

// longest returns the longest run in a[i0:i1] and b[j0:j1]. Among equally long runs it returns the
// first in a, then in b.
func (m *matcher) longest(i0, i1, j0, j1 int) block {
	best := block{i: i0, j: j0}
	clear(m.before[j0 : j1+1])
	for i := i0; i < i1; i++ {
		clear(m.ending[j0 : j1+1])
		for _, j := range m.at[m.a[i]] {
			if j < j0 || j >= j1 {
				continue
			}
			n := m.before[j] + 1
			m.ending[j+1] = n
			if n > best.n {
				best = block{i - n + 1, j - n + 1, n}
			}
		}
		m.ending, m.before = m.before, m.ending
	}
	return best
}
