package main

// user is what makes a pointer to an empty document of the user's own type: nil
// here, for there is no code for one. Where there is, the contender is built
// with another file in this one's place.
func user() func() any { return nil }

// bare is a document of the user's type without the methods that ffjson generated, in the same
// memory: encoding/json would call them, when it reads what is encoded and shows what was
// decoded. Other values stay as they are.
func bare(v any) any { return v }
