// Package guard holds the tests of the tree as a whole: which package may import
// which, that every package says what it is for, how long files and functions
// may be, and which words have no place in it.
package guard
