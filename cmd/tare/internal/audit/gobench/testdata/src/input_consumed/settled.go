package input_consumed

type item struct {
	ref   string
	cents int
}

type openItems struct {
	byRef map[string]item
	log   []string
}

func (o *openItems) Expect(i item) { o.byRef[i.ref] = i }

// Settle removes the items that it finds.
func (o *openItems) Settle(lines []item) int {
	n := 0
	for _, l := range lines {
		i, ok := o.byRef[l.ref]
		if !ok || i.cents != l.cents {
			continue
		}
		delete(o.byRef, l.ref)
		n++
	}
	return n
}

// Pay removes an item if it finds it.
func (o *openItems) Pay(ref string) {
	if _, ok := o.byRef[ref]; ok {
		delete(o.byRef, ref)
		o.log = append(o.log, ref)
	}
}

// Renew removes an item and stores it again.
func (o *openItems) Renew(ref string) {
	if i, ok := o.byRef[ref]; ok {
		delete(o.byRef, ref)
		o.byRef[ref+"'"] = i
	}
}

// Matches removes nothing.
func (o *openItems) Matches(lines []item) (n int) {
	for _, l := range lines {
		if _, ok := o.byRef[l.ref]; ok {
			n++
		}
	}
	return n
}
