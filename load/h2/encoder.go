package h2

import "math"

// Field is a header field that is encoded once and used in many header blocks.
type Field struct {
	id      int
	size    int    // size in the dynamic table
	indexed []byte // literal for the block, added to the table
	literal []byte // literal for the block, not added to the table
}

// Fields is a set of encoded header fields. All connections that send the same requests share it.
type Fields struct{ known map[[2]string]*Field }

// Ready returns the Field of a name and a value: the same one for equal arguments.
func (l *Fields) Ready(name, value string) *Field {
	key := [2]string{name, value}
	if f := l.known[key]; f != nil {
		return f
	}
	if l.known == nil {
		l.known = map[[2]string]*Field{}
	}
	f := &Field{
		id: len(l.known), size: entrySize(len(name), len(value)),
		indexed: appendLiteral(nil, 0x40, 6, name, value), literal: AppendLiteral(nil, name, value),
	}
	l.known[key] = f
	return f
}

// Len returns the largest number of bytes of f in a block.
func (f *Field) Len() int { return max(len(f.indexed), len(f.literal)) }

// Encoder writes the header blocks of one direction of a connection, in order. The first use of a field
// adds it to the dynamic table; later blocks contain its index. All fields must be of the same Fields. Call
// Reset before the first use.
type Encoder struct {
	queue      []*Field // the oldest first
	serials    []int    // serial number of the last entry of each field, by Field.id; 0 means none
	lastSerial int      // of the newest entry
	size       int      // bytes
	max        int      // bytes
	minMax     int      // smallest max since the last block; above max if unchanged
}

// Reset prepares the encoder for a new connection.
func (e *Encoder) Reset() {
	clear(e.serials)
	*e = Encoder{queue: e.queue[:0], serials: e.serials, max: TableSize, minMax: math.MaxInt}
}

// Allow limits the table to the size that the peer permits, at most TableSize. The next block announces the
// new limit (RFC 7541, section 4.2).
func (e *Encoder) Allow(size uint32) {
	limit := int(min(size, TableSize))
	if limit == e.max {
		return
	}
	e.max, e.minMax = limit, min(e.minMax, limit)
	e.evictTo(limit)
}

// Begin appends the start of a block: a new limit of the table, if any. A lower limit in between comes
// first.
func (e *Encoder) Begin(b []byte) []byte {
	if e.minMax > e.max {
		return b
	}
	if e.minMax < e.max {
		b = appendInteger(b, 0x20, 5, e.minMax)
	}
	e.minMax = math.MaxInt
	return appendInteger(b, 0x20, 5, e.max)
}

// Append appends a field: its index if it is in the table, otherwise a literal.
func (e *Encoder) Append(b []byte, f *Field) []byte {
	for len(e.serials) <= f.id {
		e.serials = append(e.serials, 0)
	}
	serial := e.serials[f.id]
	// The table has the last len(e.queue) entries. The newest has index len(static)+1.
	if inTable := serial > e.lastSerial-len(e.queue); inTable {
		return appendInteger(b, 0x80, 7, len(static)+1+e.lastSerial-serial)
	}
	if f.size > e.max {
		return append(b, f.literal...)
	}
	e.evictTo(e.max - f.size)
	e.lastSerial++
	e.queue, e.size, e.serials[f.id] = append(e.queue, f), e.size+f.size, e.lastSerial
	return append(b, f.indexed...)
}

func (e *Encoder) evictTo(limit int) {
	drop := 0
	for e.size > limit {
		e.size -= e.queue[drop].size
		drop++
	}
	if drop > 0 {
		e.queue = append(e.queue[:0], e.queue[drop:]...)
	}
}
