// Package secret decides by its name whether a header, a query parameter, or a field of a form or of a JSON
// document has a secret value, and removes these values from recorded requests. docs/security.md states the
// rule.
package secret

import (
	"slices"
	"strings"
	"unicode"
)

// secretParts returns texts that make a name secret if they occur anywhere in it, regardless of case and
// punctuation: X-Amz-Signature, clientSecret, new_password.
func secretParts() []string {
	return []string{
		"authorization", "password", "passwd", "passphrase", "passcode", "secret", "credential", "signature", "cookie",
		"apikey", "accesskey", "privatekey", "authkey", "appkey", "subscriptionkey", "sharedkey", "sessionid", "sessid", "assertion", "samlresponse",
	}
}

// secretWords returns short texts that make a name secret only if they are an entire word of it, between
// punctuation or capitals: X-Auth-Key, csrf_middleware, userPwd, but not author.
func secretWords() []string {
	return []string{"auth", "bearer", "csrf", "jwt", "oauth", "otp", "pass", "pwd", "session", "sig", "sid", "totp", "xsrf"}
}

// cursorNames returns ends of names whose token is no secret, but a position in a list.
func cursorNames() []string {
	return []string{"pagetoken", "nexttoken", "continuationtoken", "synctoken"}
}

// IsName reports whether a header, query parameter or field with this name has a secret value.
func IsName(name string) bool {
	flat := strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
	switch {
	case flat == "key", flat == "pin":
		return true
	case strings.HasSuffix(flat, "token"):
		return !slices.ContainsFunc(cursorNames(), func(c string) bool { return strings.HasSuffix(flat, c) })
	case slices.ContainsFunc(secretParts(), func(part string) bool { return strings.Contains(flat, part) }):
		return true
	}
	return slices.ContainsFunc(splitWords(name), func(word string) bool { return slices.Contains(secretWords(), word) })
}

// splitWords returns the words of a name in lower case, e.g. x, auth and key of X-AuthKey.
func splitWords(name string) []string {
	var list []string
	startsWord := true
	last := rune(0)
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			startsWord = true
		case startsWord, unicode.IsUpper(r) && unicode.IsLower(last):
			list, startsWord = append(list, string(unicode.ToLower(r))), false
		default:
			list[len(list)-1] += string(unicode.ToLower(r))
		}
		last = r
	}
	return list
}
