package workload

import (
	"strings"

	"github.com/tarebench/tare/kinds/server"
)

// newQuestions has batches that JSON decoders treat differently. A difference shows in the status and the
// bytes of metadata.
func newQuestions() []server.Question {
	// Members of event that questions replace.
	const (
		gender    = `"gender":"female"`
		age       = `"age":41`
		name      = `"name":"Ines Holm"`
		timestamp = `"timestamp":"2026-03-01T12:00:00Z"`
	)
	batch := func(id, property, description, shown string, request server.Request) server.Question {
		return server.Question{Request: request, Name: id, Property: property, What: description, Asked: shown, BearsOn: allOps()}
	}
	field := func(id, property, description, part, replacement string) server.Question {
		return batch(id, property, description, replacement, withChange(part, replacement))
	}
	deep := strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)
	long := strings.Repeat("x", 200_000)
	return []server.Question{
		field("key twice", "duplicate keys", "an event with a key that occurs twice", gender, `"gender":"female","gender":"male"`),
		batch("text behind", "trailing data", "a batch with something behind it", "[…]x", textBatch("["+event+"]x")),
		batch("batch behind", "trailing data", "a batch with another one behind it", "[…][…]", textBatch("["+event+"]["+event+"]")),
		batch("comma behind", "trailing comma", "a batch with a comma behind its last event", "[…,]", textBatch("["+event+",]")),
		field("unknown field", "unknown fields", "an event with a field that is not known", gender, gender+`,"plan":"free"`),
		field("other case", "letter case", "an event with a key in other letters", gender, `"GENDER":"female"`),
		field("null text", "null", "an event with null for a text", gender, `"gender":null`),
		field("null number", "null", "an event with null for a number", age, `"age":null`),
		batch("null event", "null", "a batch with null for an event", "[…,null]", textBatch("["+event+",null]")),
		field("fraction", "number types", "an event with 41.0 for an integer", age, `"age":41.0`),
		field("exponent", "number types", "an event with 41e0 for an integer", age, `"age":41e0`),
		field("number as text", "number types", "an event with a number in quotes", age, `"age":"41"`),
		batch("array", "wrong types", "an event with an array for its metadata", `"metadata":[]`, withChange(`"metadata":{`, `"metadata":[],"more":{`)),
		field("leading zero", "number syntax", "an event with a leading zero", age, `"age":041`),
		field("big integer", "big integers", "an event with a number beyond 64 bits", age, `"age":9223372036854775808`),
		field("many digits", "float digits", "an event with a number of 16 digits", `"latitude":55.75`, `"latitude":55.75123456789012`),
		field("not UTF-8", "invalid UTF-8", "an event with text that is not UTF-8", name, "\"city\":\"I\xffes\""),
		field("half a pair", "invalid UTF-8", "an event with half of a surrogate pair", name, `"name":"I\ud800es"`),
		field("control", "control characters", "an event with a line end within a text", name, "\"city\":\"In\nes\""),
		field("markup", "HTML", "an event with <, > and & in a text", name, `"name":"<I&s>"`),
		field("line separator", "HTML", "an event with U+2028 in a text", name, "\"city\":\"In\u2028es\""),
		batch("mark", "byte order mark", "a batch with a byte order mark before it", `\ufeff[…]`, textBatch("\ufeff["+event+"]")),
		batch("deep", "depth", "an event with an unknown field nested 20000 deep", `"more":[[[[…`, withChange(gender, gender+`,"more":`+deep)),
		field("offset", "timestamps", "a timestamp with an offset", timestamp, `"timestamp":"2026-03-01T14:00:00+02:00"`),
		field("no zone", "timestamps", "a timestamp without a zone", timestamp, `"timestamp":"2026-03-01T12:00:00"`),
		field("blank between", "timestamps", "a timestamp with a blank for its T", timestamp, `"timestamp":"2026-03-01 12:00:00Z"`),
		field("blank id", "blank id", "an event with an id of blanks", `"id":"e-1"`, `"id":"   "`),
		batch("long text", "long text", "an event with a text of 200000 characters", `"name":"xxxx…`, withChange(name, `"name":"`+long+`"`)),
	}
}
