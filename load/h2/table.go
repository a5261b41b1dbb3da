package h2

// static is the static table (RFC 7541, appendix A), from index 1.
var static = [...][2]string{
	{":authority", ""},
	{":method", "GET"},
	{":method", "POST"},
	{":path", "/"},
	{":path", "/index.html"},
	{":scheme", "http"},
	{":scheme", "https"},
	{":status", "200"},
	{":status", "204"},
	{":status", "206"},
	{":status", "304"},
	{":status", "400"},
	{":status", "404"},
	{":status", "500"},
	{"accept-charset", ""},
	{"accept-encoding", "gzip, deflate"},
	{"accept-language", ""},
	{"accept-ranges", ""},
	{"accept", ""},
	{"access-control-allow-origin", ""},
	{"age", ""},
	{"allow", ""},
	{"authorization", ""},
	{"cache-control", ""},
	{"content-disposition", ""},
	{"content-encoding", ""},
	{"content-language", ""},
	{"content-length", ""},
	{"content-location", ""},
	{"content-range", ""},
	{"content-type", ""},
	{"cookie", ""},
	{"date", ""},
	{"etag", ""},
	{"expect", ""},
	{"expires", ""},
	{"from", ""},
	{"host", ""},
	{"if-match", ""},
	{"if-modified-since", ""},
	{"if-none-match", ""},
	{"if-range", ""},
	{"if-unmodified-since", ""},
	{"last-modified", ""},
	{"link", ""},
	{"location", ""},
	{"max-forwards", ""},
	{"proxy-authenticate", ""},
	{"proxy-authorization", ""},
	{"range", ""},
	{"referer", ""},
	{"refresh", ""},
	{"retry-after", ""},
	{"server", ""},
	{"set-cookie", ""},
	{"strict-transport-security", ""},
	{"transfer-encoding", ""},
	{"user-agent", ""},
	{"vary", ""},
	{"via", ""},
	{"www-authenticate", ""},
}

// entrySize is what an entry takes of the table's size (RFC 7541, section 4.1).
func entrySize(name, value int) int { return name + value + 32 }

// entry is one of the dynamic table: where it begins among the table's bytes, and
// how long its name and its value are.
type entry struct{ at, name, value int }

// size is what it takes of the table's size.
func (e entry) size() int { return entrySize(e.name, e.value) }

// table is the dynamic table: what a block has put there for later ones.
type table struct {
	entries []entry // the newest last
	bytes   []byte  // of the entries in order, behind those of entries that were dropped
	size    int
	max     int
}

// reset empties the table.
func (t *table) reset(limit int) { *t = table{entries: t.entries[:0], bytes: t.bytes[:0], max: limit} }

// add puts an entry in, which costs older ones their place; one that is larger
// than the table empties it.
func (t *table) add(name, value []byte) {
	e := entry{name: len(name), value: len(value)}
	t.shrink(t.max - e.size())
	if e.size() > t.max {
		return
	}
	if len(t.bytes)+e.name+e.value > 2*t.max { // the dropped ones' room is used again
		from := len(t.bytes)
		if len(t.entries) > 0 {
			from = t.entries[0].at
		}
		t.bytes = append(t.bytes[:0], t.bytes[from:]...)
		for i := range t.entries {
			t.entries[i].at -= from
		}
	}
	e.at = len(t.bytes)
	t.bytes = append(append(t.bytes, name...), value...)
	t.entries = append(t.entries, e)
	t.size += e.size()
}

// shrink drops the oldest until no more than so many bytes are taken.
func (t *table) shrink(most int) {
	drop := 0
	for t.size > most && drop < len(t.entries) {
		t.size -= t.entries[drop].size()
		drop++
	}
	if drop > 0 {
		t.entries = append(t.entries[:0], t.entries[drop:]...)
	}
}

// appendTo appends name and value of an index to two buffers. An index counts the
// static table's entries first, and then from the newest to the oldest; false:
// there is none.
func (t *table) appendTo(name, value []byte, i int) (n, v []byte, ok bool) {
	if i >= 1 && i <= len(static) {
		return append(name, static[i-1][0]...), append(value, static[i-1][1]...), true
	}
	if i -= len(static); i >= 1 && i <= len(t.entries) {
		e := t.entries[len(t.entries)-i]
		between := e.at + e.name
		return append(name, t.bytes[e.at:between]...), append(value, t.bytes[between:between+e.value]...), true
	}
	return nil, nil, false
}
