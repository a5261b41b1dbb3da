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

// entrySize returns the size of an entry in a table (RFC 7541, section 4.1).
func entrySize(name, value int) int { return name + value + 32 }

type entry struct {
	at          int // offset in table.bytes
	name, value int // lengths in bytes
}

func (e entry) tableSize() int { return entrySize(e.name, e.value) }

// table is the dynamic table of one direction of a connection. It contains fields of earlier header blocks.
// Later blocks refer to them by index.
type table struct {
	entries []entry // the newest last
	bytes   []byte  // names and values of evicted entries, then of all entries
	size    int     // sum of entry.tableSize
	max     int     // bytes
}

func (t *table) resetTo(limit int) {
	*t = table{entries: t.entries[:0], bytes: t.bytes[:0], max: limit}
}

// addEntry adds an entry and evicts older ones for it. An entry larger than the table empties it.
func (t *table) addEntry(name, value []byte) {
	e := entry{name: len(name), value: len(value)}
	t.evictTo(t.max - e.tableSize())
	if e.tableSize() > t.max {
		return
	}
	if len(t.bytes)+e.name+e.value > 2*t.max { // discard the bytes of evicted entries
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
	t.size += e.tableSize()
}

func (t *table) evictTo(limit int) {
	drop := 0
	for t.size > limit && drop < len(t.entries) {
		t.size -= t.entries[drop].tableSize()
		drop++
	}
	if drop > 0 {
		t.entries = append(t.entries[:0], t.entries[drop:]...)
	}
}

// appendTo appends the name and value of entry i to two buffers. Indices start at 1 in the static table.
// The dynamic table follows, newest entry first.
func (t *table) appendTo(name, value []byte, i int) (n, v []byte, ok bool) {
	if i >= 1 && i <= len(static) {
		return append(name, static[i-1][0]...), append(value, static[i-1][1]...), true
	}
	if i -= len(static); i >= 1 && i <= len(t.entries) {
		e := t.entries[len(t.entries)-i]
		valueAt := e.at + e.name
		return append(name, t.bytes[e.at:valueAt]...), append(value, t.bytes[valueAt:valueAt+e.value]...), true
	}
	return nil, nil, false
}
