// Rewrites the references of a text for another project: `#1` becomes `group/project#1`. Code, quotes and links stay.
import { placedPassages } from './markdown.js'
import { localReferences } from './references.js'

/** Returns the text with the path of its project before each reference without a path. Commits stay: an id is the same everywhere. */
export function withProject(text: string, project: string): string {
  const places: number[] = []
  for (const { text: words, placeOf } of placedPassages(text)) {
    for (const at of localReferences(words)) {
      const place = placeOf(at)
      // The library may have changed the words; then the sign is not at this position.
      if (place !== null && text[place] === words[at]) places.push(place)
    }
  }
  let moved = ''
  let from = 0
  for (const place of [...new Set(places)].sort((a, b) => a - b)) {
    moved += `${text.slice(from, place)}${project}`
    from = place
  }
  return moved + text.slice(from)
}
