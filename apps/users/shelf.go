package users

import "iter"

const (
	blockSize = 256 // ids
	rowSize   = 64  // blocks
)

// userIndex stores users at the places of their ids. Blocks and rows of blocks count their users,
// so that an offset is found by a few additions: at 1,000,000 users some 60 rows, 64 blocks and 256
// places. The zero value is empty.
type userIndex struct {
	blocks []*block // nil if it has no users
	rows   []int    // users in each row
	count  int      // users
}

type block struct {
	users [blockSize]*User // nil for a user that does not exist
	count int
}

// userAt returns the user of that id, or nil.
func (s *userIndex) userAt(id int64) *User {
	place := id - FirstID
	if place < 0 || place/blockSize >= int64(len(s.blocks)) {
		return nil
	}
	b := s.blocks[place/blockSize]
	if b == nil {
		return nil
	}
	return b.users[place%blockSize]
}

// putUser places a user, instead of one of the same id.
func (s *userIndex) putUser(u *User) {
	place := u.ID - FirstID
	i := int(place / blockSize)
	for i >= len(s.blocks) {
		s.blocks = append(s.blocks, nil)
	}
	for i/rowSize >= len(s.rows) {
		s.rows = append(s.rows, 0)
	}
	b := s.blocks[i]
	if b == nil {
		b = &block{}
		s.blocks[i] = b
	}
	if b.users[place%blockSize] == nil {
		s.addCount(i, 1)
	}
	b.users[place%blockSize] = u
}

// removeID removes the user of that id, who exists. An empty block is removed with its last user,
// unless it is the last block, in which others will come.
func (s *userIndex) removeID(id int64) {
	place := id - FirstID
	i := int(place / blockSize)
	s.blocks[i].users[place%blockSize] = nil
	s.addCount(i, -1)
	if s.blocks[i].count == 0 && i < len(s.blocks)-1 {
		s.blocks[i] = nil
	}
}

func (s *userIndex) addCount(i, n int) {
	s.blocks[i].count += n
	s.rows[i/rowSize] += n
	s.count += n
}

// truncateAt ends the index at the block of id: there are no users at it or after it.
func (s *userIndex) truncateAt(id int64) {
	blocks := int((id - FirstID + blockSize - 1) / blockSize)
	if blocks < len(s.blocks) {
		clear(s.blocks[blocks:])
		s.blocks = s.blocks[:blocks]
		s.rows = s.rows[:(blocks+rowSize-1)/rowSize]
	}
}

// usersFrom yields users in the order of their ids, without the first offset of them.
func (s *userIndex) usersFrom(offset int) iter.Seq[*User] {
	return func(yield func(*User) bool) {
		if offset >= s.count {
			return
		}
		i, skip := s.findOffset(max(0, offset))
		for ; i < len(s.blocks); i++ {
			if s.blocks[i] == nil {
				continue
			}
			for _, u := range s.blocks[i].users {
				switch {
				case u == nil:
				case skip > 0:
					skip--
				case !yield(u):
					return
				}
			}
		}
	}
}

// findOffset returns the block of the user at offset, and how many are before that user in it.
// There are more users than offset.
func (s *userIndex) findOffset(offset int) (i, before int) {
	row := 0
	for offset >= s.rows[row] {
		offset -= s.rows[row]
		row++
	}
	for i = row * rowSize; ; i++ {
		if b := s.blocks[i]; b != nil {
			if offset < b.count {
				return i, offset
			}
			offset -= b.count
		}
	}
}
