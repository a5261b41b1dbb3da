package proto

import (
	"math"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/tarebench/tare/apps/users"
)

// FromUser converts a user to its protocol buffer message.
func FromUser(u users.User) *User {
	return &User{
		Id:        u.ID,
		Name:      u.Name,
		Email:     u.Email,
		CreatedAt: timestamppb.New(u.CreatedAt),
		UpdatedAt: timestamppb.New(u.UpdatedAt),
	}
}

// ToUser converts a message to a user.
func ToUser(m *User) users.User {
	return users.User{
		ID:        m.GetId(),
		Name:      m.GetName(),
		Email:     m.GetEmail(),
		CreatedAt: m.GetCreatedAt().AsTime(),
		UpdatedAt: m.GetUpdatedAt().AsTime(),
	}
}

// FromQuery converts a query to a request. It clamps numbers to 32 bits.
func FromQuery(q users.Query) *ListUsersRequest {
	return &ListUsersRequest{Query: q.Text, Page: clampInt32(q.Page), Limit: clampInt32(q.Limit)}
}

// ToQuery converts a request to a query.
func ToQuery(m *ListUsersRequest) users.Query {
	return users.Query{Text: m.GetQuery(), Page: int(m.GetPage()), Limit: int(m.GetLimit())}
}

// FromPage converts a page to a response. Page number and limit are clamped to 32 bits.
func FromPage(p users.Page) *ListUsersResponse {
	m := &ListUsersResponse{Users: make([]*User, len(p.Users)), Total: p.Total, Page: clampInt32(p.Page), Limit: clampInt32(p.Limit)}
	for i, u := range p.Users {
		m.Users[i] = FromUser(u)
	}
	return m
}

// ToPage converts a response to a page.
func ToPage(m *ListUsersResponse) users.Page {
	p := users.Page{Users: make([]users.User, len(m.GetUsers())), Total: m.GetTotal(), Page: int(m.GetPage()), Limit: int(m.GetLimit())}
	for i, u := range m.GetUsers() {
		p.Users[i] = ToUser(u)
	}
	return p
}

func clampInt32(n int) int32 { return int32(max(math.MinInt32, min(math.MaxInt32, n))) }
