package figures

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file is the rule bytes-below-result. It finds operations that allocate less than their result
// takes. For example, a benchmark that returns a copy of 64 KiB has 32 B/op.

// bytesBelowResult finds operations that allocate fewer bytes than their results have.
func bytesBelowResult() rule {
	return rule{Rule: audit.Rule{
		ID: "bytes-below-result", Severity: tare.Warn,
		Title:   "An operation allocates less than its result takes.",
		Why:     "What a call returns has to be somewhere: if it allocates fewer bytes than the result has, the call fails early, copies a part, or returns memory that it does not own.",
		Do:      "check the error and compare the result with the input in the benchmark, once before the loop",
		Command: "tare run ffi",
		Bad:     "~~~c\ntypedef struct {\n    int id;\n    char name[64];\n    double total;\n} Order;\n~~~\n\n~~~\nBenchmarkCopyOrder-8   20000000   51.2 ns/op   32 B/op   1 allocs/op\n~~~\n",
		Good:    "~~~c\ntypedef struct {\n    int id;\n    char name[64];\n    double total;\n} Order;\n~~~\n\n~~~\nBenchmarkCopyOrder-8   20000000   51.2 ns/op   112 B/op   2 allocs/op\n~~~\n",
		Seen:    []string{"ffi"},
	}, find: findBytesBelowResult}
}

// findBytesBelowResult reports operations that allocate fewer bytes than their results have. The
// page gives the size of a result in a figure, a name, a sentence or a C struct.
func findBytesBelowResult(d *document, report reportFunc) {
	findBytesBelowName(d, report)
	findBytesBelowStated(d, report)
	findBytesBelowSiblings(d, report)
	findBytesBelowStat(d, report)
	for _, t := range d.tables {
		findBytesBelowCell(t, report)
	}
	defined := d.findResultUnits()
	for _, b := range d.benches {
		const maxRate = 400e3 // MB/s: faster than any memory
		size, ok := b.value("B/op")
		n, _ := b.value("allocs/op")
		if rate, _ := b.value("MB/s"); rate > maxRate && ok && size > 0 && size < minCopy*b.processedBytes() {
			report(b.line, fmt.Sprintf("%s allocates %s B/op and processes %s B/op, at %s MB/s: no memory is as fast, so most of the data was not touched", b.name, formatNumber(size), formatNumber(b.processedBytes()), formatNumber(rate)))
		}
		if !ok || !(size > 0) || !(n > 0) {
			continue
		}
		for _, v := range b.values {
			isResult := resultUnitRE.MatchString(v.unit) || slices.Contains(defined, v.unit)
			if isResult && size < minCopy*v.value {
				report(b.line, fmt.Sprintf("%s allocates %s B/op and returns %s %s", b.name, formatNumber(size), formatNumber(v.value), v.unit))
			}
		}
		words := splitWords(b.name)
		for _, s := range d.structs {
			// A struct is named by its type and by the first word above it.
			names := append(splitWords(firstWord(s.label)), splitWords(s.name)...)
			isNamed := slices.ContainsFunc(names, func(w string) bool {
				return len(w) >= minSharedWord && slices.Contains(words, w)
			})
			if size >= float64(s.size) || !isNamed {
				continue
			}
			report(b.line, fmt.Sprintf("%s allocates %s B/op, and the struct %s has %d bytes (line %d)", b.name, formatNumber(size), s.name, s.size, s.line))
			break
		}
	}
}

// resultUnitRE matches the unit of a result's size, such as result-bytes/op.
var resultUnitRE = lazyregexp.New(`(?i)^(?:result|resp(?:onse)?|body|out(?:put)?|encoded|returned|copied|reply|answer)` +
	`[-_.]?(?:B|bytes)(?:/op)?$` +
	`|^(?:B|bytes)[-_.](?:result|out(?:put)?|encoded|returned|copied)(?:/op)?$`)

// resultDefinitionRE matches "page-B is the length of the string that Render returns". The group is
// page-B.
var resultDefinitionRE = lazyregexp.New(`(?i)(?:^|\s)([\w-]+(?:/op)?) (?:is|are|=|gives?|shows?) the (?:length|size|bytes|number of bytes) (?:of|in) [^.;]{0,40}\breturn(?:s|ed)?\b`)

// lengthOfReturnedRE matches "Encode returns a slice; tile-B is the length of that slice". The
// group is tile-B.
var lengthOfReturnedRE = lazyregexp.New(`(?i)\breturn(?:s|ed)?\b.{0,80}[;,.] ?(?:and )?([\w-]+-(?:B|bytes)(?:/op)?) (?:is|are|=) (?:the|its) (?:length|size)\b`)

// findResultUnits returns units that count the bytes of a result by a sentence or a comment.
func (d *document) findResultUnits() (units []string) {
	var texts []string
	for _, s := range d.findSentences(resultDefinitionRE) {
		texts = append(texts, s.text)
	}
	for _, b := range d.benches[:min(len(d.benches), maxStated)] {
		if len(texts) == 0 || texts[len(texts)-1] != b.path {
			texts = append(texts, b.path)
		}
	}
	for _, text := range texts {
		for _, pattern := range []*lazyregexp.Regexp{resultDefinitionRE, lengthOfReturnedRE} {
			if m := pattern.FindStringSubmatch(text); m != nil {
				units = append(units, m[1])
			}
		}
	}
	return units
}

// minSharedWord is the least length of a word that relates two names.
const minSharedWord = 4

func firstWord(text string) string {
	word, _, _ := strings.Cut(text, " ")
	return word
}

// sizedBench is a benchmark with an amount in its name, such as Copy/64KiB.
type sizedBench struct {
	*bench
	family string  // Copy/*
	amount string  // e.g. 64KiB
	size   float64 // in bytes
	bytes  float64 // B/op
	allocs float64 // allocs/op
	isCopy bool    // B/op suffice for one copy, but not for two
}

var (
	// sizeInNameRE matches an amount in a name. The groups are 64 and KiB.
	sizeInNameRE = lazyregexp.New(`(?:^|[^0-9.])(\d+)(B|[kK]i?B?|Mi?B?|Gi?B)(?:$|[^A-Za-z0-9])`)
	// bytesInNameRE matches bytes=512. The groups are 512 and "", as if a unit.
	bytesInNameRE = lazyregexp.New(`(?i)(?:^|/|_)bytes=(\d+)()(?:$|[^0-9A-Za-z.])`)
	// numberInNameRE matches value=512 or Get/512. The groups are 512 and "".
	numberInNameRE = lazyregexp.New(`(?:=|/)(\d{2,})()(?:$|[^0-9A-Za-z.])`)
	// returnsCopyRE matches a sentence about new memory.
	returnsCopyRE = lazyregexp.New(`(?i)\b(?:returns?|hands? (?:out|back)|gives?|yields?|produces?|allocates?|makes?|creates?)\b` +
		`[^.]{0,60}\b(?:cop(?:y|ies)|clones?|duplicate|fresh(?:ly)?|new(?:ly)?)\b` +
		`|\b(?:fresh|deep|full|private|defensive) cop(?:y|ies)\b` +
		`|\ba (?:fresh|new|newly (?:made|allocated)) (?:slice|string|buffer|array|\[\]byte)`)
	// returnsSizeRE matches "returns a copy of 64 KiB". The groups are 64 and KiB.
	returnsSizeRE = lazyregexp.New(`(?i)\breturns?\b[^.]{0,30}\b(?:copy|clone|fresh|new|newly|own)\b[^.\d]{0,40}(\d[\d,]*(?:\.\d+)?)[ -]?(bytes?|B|[KMG]i?B)\b`)
)

// These are shares of the size of the data. The allocator rounds sizes up.
const (
	minCopy = 0.98
	maxCopy = 1.4
)

// allocatedBytes returns B/op. It returns false if the output has no B/op or operations do not
// allocate.
func (b *bench) allocatedBytes() (bytes float64, ok bool) {
	bytes, ok = b.value("B/op")
	allocs, hasAllocs := b.value("allocs/op")
	return bytes, ok && bytes > 0 && (!hasAllocs || allocs >= 1)
}

// processedBytes returns the bytes that an operation processes, from its throughput, or 0 if
// unknown.
func (b *bench) processedBytes() float64 {
	rate, _ := b.value("MB/s")
	ns, _ := b.value("ns/op")
	return rate * ns * 1e-3 // MB/s are 1e6 B/s, and ns 1e-9 s
}

// findAmount returns the offsets of the groups of sizeInNameRE in the benchmark's name, or nil. It
// takes a plain number only if the throughput shows that it counts bytes.
func (b *bench) findAmount() []int {
	for _, pattern := range []*lazyregexp.Regexp{sizeInNameRE, bytesInNameRE} {
		if m := pattern.FindStringSubmatchIndex(b.name); m != nil {
			return m
		}
	}
	m := numberInNameRE.FindStringSubmatchIndex(b.name)
	if m == nil {
		return nil
	}
	const rounding = 0.02 // share: MB/s and ns/op are rounded
	n, err := strconv.ParseFloat(b.name[m[2]:m[3]], 64)
	if err != nil || !isNear(b.processedBytes(), n, rounding) {
		return nil
	}
	return m
}

// parseSizedBench returns a benchmark with the amount of data in its name, or false without one. KB
// and MB are decimal units, unless the throughput shows binary ones.
func parseSizedBench(b *bench) (sizedBench, bool) {
	bytes, ok := b.allocatedBytes()
	m := b.findAmount()
	if !ok || m == nil {
		return sizedBench{}, false
	}
	unit := strings.ToLower(b.name[m[4]:m[5]])
	if !strings.HasSuffix(unit, "b") {
		unit += "b"
	}
	q, _, ok := parseQuantity(b.name[m[2]:m[3]] + " " + unit)
	if !ok || q.kind != byteKind || !(q.value > 0) {
		return sizedBench{}, false
	}
	out := sizedBench{
		bench:  b,
		family: b.name[:m[2]] + "*" + b.name[m[5]:],
		amount: b.name[m[2]:m[5]],
		size:   q.value,
		bytes:  bytes,
	}
	out.allocs, _ = b.value("allocs/op")
	const (
		rateRounding    = 0.01 // share, by rounding
		binaryTolerance = 0.08 // share: MiB is 4.9 % more than MB, and GiB 7.4 % more than GB
	)
	processed := b.processedBytes()
	if processed > out.size && isNear(processed, out.size, binaryTolerance) {
		out.size = processed * (1 - rateRounding)
	}
	out.isCopy = bytes >= minCopy*out.size && bytes <= maxCopy*out.size
	return out, true
}

// findBytesBelowName reports benchmarks that return copies but allocate less than the amount in
// their names. A sentence or the family shows that they copy. The names of a family differ only in
// the amount.
func findBytesBelowName(d *document, report reportFunc) {
	families := map[string][]sizedBench{}
	var keys []string
	for _, b := range d.benches {
		if s, ok := parseSizedBench(b); ok {
			key := b.pkg + " " + b.path + " " + s.family
			if families[key] == nil {
				keys = append(keys, key)
			}
			families[key] = append(families[key], s)
		}
	}
	copies := d.findSentences(returnsCopyRE)
	for n, key := range keys {
		family, copyLine := families[key], 0
		for _, s := range copies {
			if n < maxStated && copyLine == 0 && s.namesBench(family[0].bench, returnsCopyRE) {
				copyLine = s.line
			}
		}
		for _, s := range family {
			if s.bytes >= minCopy*s.size {
				continue
			}
			why := s.whyCopied(family)
			if why == "" && copyLine > 0 {
				why = fmt.Sprintf("each call returns a copy (line %d)", copyLine)
			}
			if why != "" {
				report(s.line, fmt.Sprintf("%s allocates %s B/op, less than %s; %s", s.name, formatNumber(s.bytes), s.amount, why))
			}
		}
	}
}

// whyCopied returns evidence that an operation copies the amount, or "". Two other amounts of the
// family must be copied, and one of them must be smaller.
func (s sizedBench) whyCopied(family []sizedBench) string {
	smaller, hasGreater := map[float64]bool{}, false
	for _, other := range family {
		if !other.isCopy || other.allocs != s.allocs {
			continue
		}
		if other.size < s.size {
			smaller[other.size] = true
		}
		hasGreater = hasGreater || other.size > s.size
	}
	switch {
	case len(smaller) > 0 && hasGreater:
		return "smaller and greater sizes are allocated completely"
	case len(smaller) > 1:
		return "smaller sizes are allocated completely"
	}
	return ""
}

// findBytesBelowStat reports rows of benchstat with fewer B/op than the size of the result in
// another table.
func findBytesBelowStat(d *document, report reportFunc) {
	returned := map[string]statRow{}
	for _, row := range d.statRows {
		if resultUnitRE.MatchString(row.unit) && len(row.values) == 2 {
			returned[row.name] = row
		}
	}
	for _, row := range d.statRows {
		result, ok := returned[row.name]
		if !ok || row.unit != "B/op" || len(row.values) != 2 {
			continue
		}
		for i, bytes := range row.values {
			if bytes > 0 && bytes < minCopy*result.values[i] {
				report(row.line, fmt.Sprintf("%s of %s allocates %s B/op and returns %s B (line %d)", row.name, row.files[i], formatNumber(bytes), formatNumber(result.values[i]), result.line))
			}
		}
	}
}

// amountUnitRE matches the unit of a reported amount, such as page-bytes.
var amountUnitRE = lazyregexp.New(`(?i)[a-z][-_.](?:B|bytes)(?:/op)?$`)

// findBytesBelowSiblings reports sub-benchmarks that allocate less than the amount that they report.
// Two others must make a copy of their amount, or one if a sentence says that calls return copies.
func findBytesBelowSiblings(d *document, report reportFunc) {
	families, names := d.collectSiblings()
	copies := d.findSentences(returnsCopyRE)
	for _, name := range names {
		siblings, copying := families[name], 0
		for _, s := range siblings {
			if s.bytes >= minCopy*s.amount && s.bytes <= maxCopy*s.amount {
				copying++
			}
		}
		isStated := copying == 1 && slices.ContainsFunc(copies, func(s sentence) bool { return s.namesBench(siblings[0].bench, returnsCopyRE) })
		for _, s := range siblings {
			if (copying > 1 || isStated) && s.bytes < minCopy*s.amount {
				report(s.line, fmt.Sprintf("%s allocates %s B/op, less than its %s %s, which the others of its family allocate completely", s.name, formatNumber(s.bytes), formatNumber(s.amount), s.unit))
			}
		}
	}
}

// sibling is a sub-benchmark that reports an amount of data.
type sibling struct {
	*bench
	unit   string  // unit of amount
	bytes  float64 // B/op
	amount float64 // in bytes
}

// collectSiblings returns the siblings by benchmark and unit, and the keys in their order.
func (d *document) collectSiblings() (families map[string][]sibling, names []string) {
	families = map[string][]sibling{}
	for _, b := range d.benches[:min(len(d.benches), maxStated)] {
		bytes, ok := b.allocatedBytes()
		if !ok {
			continue
		}
		first, _, _ := strings.Cut(b.name, "/")
		for _, v := range b.values {
			if !amountUnitRE.MatchString(v.unit) || resultUnitRE.MatchString(v.unit) || !(v.value > 0) {
				continue
			}
			key := b.pkg + " " + b.path + " " + first + " " + v.unit
			if families[key] == nil {
				names = append(names, key)
			}
			families[key] = append(families[key], sibling{bench: b, unit: v.unit, bytes: bytes, amount: v.value})
		}
	}
	return families, names
}

// namesBench reports whether a sentence names a benchmark before a match: "copy" for
// CopyOrder/64KiB.
func (s sentence) namesBench(b *bench, pattern *lazyregexp.Regexp) bool {
	first, _, _ := strings.Cut(b.name, "/")
	loc := pattern.FindStringIndex(s.text)
	if loc == nil {
		return false
	}
	words := splitWords(s.text[:loc[0]])
	return slices.ContainsFunc(splitWords(first), func(w string) bool {
		return len(w) >= minSharedWord && slices.Contains(words, w)
	})
}

// maxStated limits the sentences about results, and the benchmarks that are compared with them.
const maxStated = 1000

// findSentences returns the first maxStated sentences that match pattern and have no negation.
func (d *document) findSentences(pattern *lazyregexp.Regexp) []sentence {
	var out []sentence
	for _, s := range d.sentences {
		if len(out) < maxStated && pattern.MatchString(s.text) && !negationRE.MatchString(s.text) && !strings.Contains(s.text, "without") {
			out = append(out, s)
		}
	}
	return out
}

// findBytesBelowStated reports benchmarks that allocate less than a sentence states for their
// result.
func findBytesBelowStated(d *document, report reportFunc) {
	for _, s := range d.findSentences(returnsSizeRE) {
		m := returnsSizeRE.FindStringSubmatch(s.text)
		q, _, ok := parseQuantity(m[1] + " " + m[2])
		if !ok || q.kind != byteKind {
			continue
		}
		for _, b := range d.benches[:min(len(d.benches), maxStated)] {
			bytes, ok := b.allocatedBytes()
			isBelow := ok && bytes < minCopy*q.value
			if isBelow && !sizeInNameRE.MatchString(b.name) && s.namesBench(b, returnsSizeRE) {
				report(b.line, fmt.Sprintf("%s allocates %s B/op and returns %s B (line %d)", b.name, formatNumber(bytes), formatNumber(q.value), s.line))
			}
		}
	}
}

var (
	// resultHeaderRE matches a header such as "copied bytes".
	resultHeaderRE = lazyregexp.New(`(?i)^(?:result|returned|return value|copy|copied)\b[^|]{0,12}` +
		`(?:\bsize\b|\bbytes\b|\blength\b|\([kmg]?i?b\)|, ?[kmg]?i?b$)` +
		`|^(?:size|bytes|length) (?:of (?:the |each )?)?(?:result|returned|copy|copied)\b`)
	// perOpHeaderRE matches a header such as "B/op".
	perOpHeaderRE = lazyregexp.New(`(?i)^(?:b|bytes|[kmg]i?b|memory|mem|allocated(?: bytes)?|alloc(?:ated)? b(?:ytes)?)\s?(?:/| per )\s?(?:op|call|operation)`)
)

// findBytesBelowCell reports rows of a table in which an operation allocates less than its result
// has.
func findBytesBelowCell(t *table, report reportFunc) {
	result, perOp := -1, -1
	for i, header := range t.header {
		if resultHeaderRE.MatchString(header) {
			result = i
		} else if perOpHeaderRE.MatchString(header) {
			perOp = i
		}
	}
	if result < 0 || perOp < 0 {
		return
	}
	parseBytes := func(row tableRow, column int) (float64, bool) {
		if column >= len(row.cells) {
			return 0, false
		}
		q, ok := parseCell(row.cells[column])
		if k, size, known := findKind(t.header[column]); q.kind == plainKind && known && k == byteKind && size > 0 {
			return q.raw * size, ok
		}
		return q.value, ok && (q.kind == byteKind || q.kind == plainKind)
	}
	for _, row := range t.rows {
		size, okSize := parseBytes(row, result)
		bytes, okBytes := parseBytes(row, perOp)
		if okSize && okBytes && bytes > 0 && bytes < minCopy*size {
			report(row.line, fmt.Sprintf("%s of %s allocates %s, less than its %s of %s", t.header[perOp], quote(row.cells[0]), formatNumber(bytes)+" B", strings.ToLower(t.header[result]), formatNumber(size)+" B"))
		}
	}
}
