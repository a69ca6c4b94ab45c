package code

// Anew returns a Reader of r's runtime that knows of the layout what r does, and has read nothing yet.
func Anew(r *Reader) (*Reader, error) {
	c, err := r.members()
	if err != nil {
		return nil, err
	}
	n := &Reader{rt: r.rt, mem: r.mem}
	_, err = n.bound.Get(func() (*members, error) { return c, nil })
	return n, err
}

// FirstTier is the tier that m starts at once it is compiled, and whether it has several.
func (r *Reader) FirstTier(m *MethodDesc) (Tier, bool, error) {
	c, err := r.members()
	if err != nil || !c.tiered.of(m) {
		return TierUnknown, false, err
	}
	t, err := r.firstTier(m)
	return t, true, err
}
