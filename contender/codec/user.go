package codec

import (
	"encoding/json"

	"github.com/tarebench/tare/contender/fixture"
)

// UserFixture is the fixture of the user's documents. Their Go type was inferred from the documents, or is a type
// of the user's module. Only contenders that are built with another file in place of own.go support the fixture.
const UserFixture = "user"

// userTarget is [fixture.Target] extended by the user's type. It returns nil for UserFixture if this build
// has no such type.
func userTarget(name string) func() any {
	if name == UserFixture {
		return documentTarget()
	}
	return fixture.Target(name)
}

// decodeUser is [fixture.Decode] extended by the user's type.
func decodeUser(name string, canonical []byte) (any, error) {
	target := documentTarget()
	if name != UserFixture || target == nil {
		return fixture.Decode(name, canonical)
	}
	v := target()
	return v, json.Unmarshal(canonical, v)
}
