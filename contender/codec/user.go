package codec

import (
	"encoding/json"

	"github.com/tarebench/tare/contender/fixture"
)

// UserFixture is the fixture of the user's documents in a type of the user: one that was inferred from the
// documents, or one of the user's module. Only a contender built for it supports it, with another file in
// place of own.go.
const UserFixture = "user"

// userTarget is [fixture.Target] extended by the user's type.
func userTarget(name string) func() any {
	if name == UserFixture {
		return own()
	}
	return fixture.Target(name)
}

// decodeUser is [fixture.Decode] extended by the user's type.
func decodeUser(name string, canonical []byte) (any, error) {
	target := own()
	if name != UserFixture || target == nil {
		return fixture.Decode(name, canonical)
	}
	into := target()
	return into, json.Unmarshal(canonical, into)
}
