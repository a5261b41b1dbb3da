// Package users is the business logic of a service for users: its operations, results and errors.
// It knows of no transport and of no database: transports turn their requests into calls of a
// [Service], which calls a [Repository].
//
//	transport (gRPC, Gin, gateway, Connect, net/http) → Service → Repository (memory, SQLite, PostgreSQL)
//
// Over HTTP:
//
//	POST   /v1/users                        create   201 and the user
//	GET    /v1/users/{id}                   get      200 and the user
//	PUT    /v1/users/{id}                   update   200 and the user
//	DELETE /v1/users/{id}                   delete   200 and {}
//	GET    /v1/users?query=&page=&limit=    list     200 and the page
//	GET    /health                          200 and ok, text/plain
//
// and over gRPC and Connect the methods of proto/users.proto, of service
// tare.users.v1.UserService. All return errors as an [Error].
package users

import (
	"context"
	"time"
)

// Name is the name of the app, in studies and on command lines.
const Name = "users"

// FirstID is the id of the first user of any store. Ids count up from it and are not used again:
// all ids of a store have the same number of digits, and of bytes in protocol buffers.
const FirstID = 300_000_000

// User is one user.
type User struct {
	ID        int64     `json:"id"`
	Name      string    `json:"name"`
	Email     string    `json:"email"`
	CreatedAt time.Time `json:"created_at"` // UTC, in microseconds
	UpdatedAt time.Time `json:"updated_at"`
}

// Draft contains the caller's values of a user.
type Draft struct {
	Name  string `json:"name"`  // 3 to 100 characters, once trimmed of space
	Email string `json:"email"` // as net/mail reads an address, without a name; compared in lower case
}

// Query selects one page of users, in the order of their ids.
type Query struct {
	Text  string // part of name or e-mail, in upper or lower case; "" means all users
	Page  int    // from 1; 0 means 1
	Limit int    // users on a page; 0 means 10, more than 100 means 100
}

// Page is the result of a query.
type Page struct {
	Users []User `json:"users"` // never nil
	Total int64  `json:"total"` // users that match, on all pages
	Page  int    `json:"page"`
	Limit int    `json:"limit"`
}

// Repository stores users. All methods can be called concurrently, end early with an error of ctx
// when ctx ends, and do nothing then. E-mails are unique, in lower case as the service passes them.
// Errors are [ErrNotFound], [ErrEmailTaken], those of ctx, or the store's own.
type Repository interface {
	Create(ctx context.Context, d Draft, at time.Time) (User, error)
	Get(ctx context.Context, id int64) (User, error)
	Update(ctx context.Context, id int64, d Draft, at time.Time) (User, error)
	Delete(ctx context.Context, id int64) error

	// List returns the users of which text, in lower case, is a part of name or e-mail, from offset
	// on and at most limit, and how many there are in all.
	List(ctx context.Context, text string, offset, limit int) ([]User, int64, error)

	// Reset leaves the n users of [Seeded] and nothing else, with the next id FirstID+n, as fast as
	// the store can: it has been there before.
	Reset(ctx context.Context, n int) error

	Close() error
}

// Temporary is the prefix of the name of a store for a lab: it is new, and Close removes it. No
// command line accepts it.
const Temporary = "temporary:"

// Opener opens a store by its name, with n seeded users if it is new: memory, linear, sqlite:FILE,
// postgres:URL.
//
// A store in a database outlives the program. With the prefix [Temporary], postgres:URL is a new
// database next to those of the server, which Close drops.
type Opener func(ctx context.Context, store string, n int) (Repository, error)
