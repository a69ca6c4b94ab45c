package agreement

import (
	"maps"
	"slices"
)

// A Kept counts the facts in an archive, and all facts.
type Kept struct{ Rows, OfRows, Files, OfFiles int }

// Select returns an archive of the facts on which a slice and its original dump agree. A fact of
// the data-access library is selected if both answers are right or both are wrong, and a file of
// SOS if the commands print the same lines.
func Select(full, slice *Program, facts Facts) (*Archive, Kept, error) {
	var kept Kept
	a := NewArchive()
	// A file of facts can serve several sections. A row is kept if it serves one of them and no
	// section answers it differently.
	served, spoilt := map[string]map[int]bool{}, map[string]map[int]bool{}
	rows := map[string][][]byte{}
	for _, sec := range sections {
		list, ok, err := facts.Rows(sec.facts)
		if err != nil {
			return nil, kept, err
		}
		if !ok {
			continue
		}
		var of, in Score
		if err := sec.ask(full, list, &of); err != nil {
			return nil, kept, err
		}
		if err := sec.ask(slice, list, &in); err != nil {
			return nil, kept, err
		}
		if rows[sec.facts] == nil {
			rows[sec.facts], served[sec.facts], spoilt[sec.facts] = list, map[int]bool{}, map[int]bool{}
		}
		for row := range of.rows {
			served[sec.facts][row] = true
			if !slices.Equal(of.rows[row], in.rows[row]) {
				spoilt[sec.facts][row] = true
			}
		}
	}
	for name, list := range rows {
		var chosen [][]byte
		for _, row := range slices.Sorted(maps.Keys(served[name])) {
			if !spoilt[name][row] {
				chosen = append(chosen, list[row])
			}
		}
		kept.OfRows += len(served[name])
		kept.Rows += len(chosen)
		if len(chosen) > 0 {
			a.AddRows(name, chosen)
		}
	}
	files, err := facts.SOS()
	if err != nil {
		return nil, kept, err
	}
	same := make([]bool, len(files))
	eachOf(slice.jobs, len(files), func(i int) {
		want, got := full.Run(files[i].Commands...), slice.Run(files[i].Commands...)
		same[i] = slices.Equal(Normalise(want.Stdout), Normalise(got.Stdout))
	})
	for i := range files {
		if same[i] {
			a.AddSOS(&files[i])
			kept.Files++
		}
	}
	kept.OfFiles = len(files)
	return a, kept, nil
}
