package codec

import (
	"encoding/json"

	"github.com/tarebench/tare/contender/fixture"
)

// UserFixture is the fixture of the user's documents. Their Go type is the user's, or was inferred. It needs a
// build with another own.go.
const UserFixture = "user"

// userTarget is [fixture.Target] with the user's type.
func userTarget(name string) func() any {
	if name == UserFixture {
		return documentTarget()
	}
	return fixture.Target(name)
}

// decodeUser is [fixture.Decode] with the user's type.
func decodeUser(name string, canonical []byte) (any, error) {
	target := documentTarget()
	if name != UserFixture || target == nil {
		return fixture.Decode(name, canonical)
	}
	v := target()
	return v, json.Unmarshal(canonical, v)
}
