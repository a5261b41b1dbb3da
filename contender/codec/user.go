package codec

import (
	"encoding/json"

	"github.com/tarebench/tare/contender/fixture"
)

// UserFixture is the fixture of somebody's own documents in a type of their
// own: one that was inferred from the documents, or one of their module's. A
// contender has it only where it was built for that, with another file in the
// place of own.go.
const UserFixture = "user"

// targetOf is [fixture.Target] that knows the user's type as well.
func targetOf(name string) func() any {
	if name == UserFixture {
		return own()
	}
	return fixture.Target(name)
}

// decodeAs is [fixture.Decode] that knows the user's type as well.
func decodeAs(name string, canonical []byte) (any, error) {
	target := own()
	if name != UserFixture || target == nil {
		return fixture.Decode(name, canonical)
	}
	into := target()
	return into, json.Unmarshal(canonical, into)
}
