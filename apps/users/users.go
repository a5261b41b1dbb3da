// Package users is the business logic of a service for users. Transports call a [Service], which calls a
// [Repository]:
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
// gRPC and Connect have the methods of tare.users.v1.UserService in proto/users.proto. All errors are an
// [Error].
package users

import (
	"context"
	"time"
)

// Name is the name of the app, in studies and on command lines.
const Name = "users"

// FirstID is the id of a store's first user. Others follow; no id is used again. All ids have the same length
// in JSON and protocol buffers.
const FirstID = 300_000_000

// User is one user.
type User struct {
	ID        int64     `json:"id"`
	Name      string    `json:"name"`
	Email     string    `json:"email"`
	CreatedAt time.Time `json:"created_at"` // UTC, in microseconds
	UpdatedAt time.Time `json:"updated_at"`
}

// Draft contains the values of a user that the caller sets.
type Draft struct {
	Name  string `json:"name"`  // 3 to 100 characters, after white space around it is removed
	Email string `json:"email"` // an address that net/mail accepts, without a display name; stored in lower case
}

// Query selects one page of users, in the order of their ids.
type Query struct {
	Text  string // part of the name or e-mail, ignoring case; "" means all users
	Page  int    // number of the page, from 1; 0 means 1
	Limit int    // maximum number of users on a page; 0 means 10, more than 100 means 100
}

// Page is the result of a query.
type Page struct {
	Users []User `json:"users"` // never nil
	Total int64  `json:"total"` // number of users that match, on all pages
	Page  int    `json:"page"`
	Limit int    `json:"limit"`
}

// Repository stores users. Its methods may be called concurrently. If ctx ends, nothing changes and its error
// is returned. E-mails are unique and in lower case.
//
// Other errors are [ErrNotFound], [ErrEmailTaken] or of the database.
type Repository interface {
	Create(ctx context.Context, d Draft, at time.Time) (User, error)
	Get(ctx context.Context, id int64) (User, error)
	Update(ctx context.Context, id int64, d Draft, at time.Time) (User, error)
	Delete(ctx context.Context, id int64) error

	// List returns users whose name or e-mail contains text, ignoring case, in the order of ids. text is in
	// lower case. It skips offset users and returns at most limit, and the number of all matches.
	List(ctx context.Context, text string, offset, limit int) ([]User, int64, error)

	// Reset replaces all users by the first n of [Seeded]. The next id is FirstID+n. Measurements call it
	// often with the same n, so it should be fast.
	Reset(ctx context.Context, n int) error

	Close() error
}

// Temporary begins the name of a store for one measurement, which Close removes. No command line accepts it.
const Temporary = "temporary:"

// Opener opens a store: memory, linear, sqlite:FILE or postgres:URL. A new one has the first n users of
// [Seeded].
//
// A database outlives the program. With [Temporary], postgres:URL is a new database on that server, and Close
// drops it.
type Opener func(ctx context.Context, store string, n int) (Repository, error)
