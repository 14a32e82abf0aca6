package views

import (
	"regexp"

	"github.com/edsight/edsight/core/model"
)

// named finds objects in a sentence, as "Kind namespace/name" or with a slash, and with
// their cluster if that is said.
var named = regexp.MustCompile(`\b([A-Z][A-Za-z]+)[ /]([a-z0-9](?:[a-z0-9-]*[a-z0-9])?)/([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)(?: of cluster ([\w-]+(?:[./:@][\w-]+)*))?`)

// segment is a part of a sentence, which leads somewhere if it names an object.
type segment struct{ text, href string }

// segments are the parts of a sentence.
func segments(text string) []segment {
	var list []segment
	for text != "" {
		at := named.FindStringSubmatchIndex(text)
		if at == nil {
			return append(list, segment{text, ""})
		}
		if at[0] > 0 {
			list = append(list, segment{text[:at[0]], ""})
		}
		key := model.ObjectKey{Kind: model.Kind(text[at[2]:at[3]]), Namespace: text[at[4]:at[5]], Name: text[at[6]:at[7]]}
		if at[8] >= 0 {
			key.Cluster = model.ClusterID(text[at[8]:at[9]])
		}
		href := ""
		if HasPage(key.Kind) {
			href = ConfigURL(key)
		}
		list = append(list, segment{text[at[0]:at[1]], href})
		text = text[at[1]:]
	}
	return list
}
