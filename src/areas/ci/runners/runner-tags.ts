import { Invalid } from '../../../errors.js'

/** Not specified: the maximum number of tags of a runner, and their maximum length. */
const MOST_TAGS = 50
const LONGEST_TAG = 255

/** Returns the tags without blanks and duplicates. Throws Invalid. */
export function cleanTags(texts: readonly string[]): string[] {
  const tags = [...new Set(texts.map(tag => tag.trim()).filter(tag => tag !== ''))]
  if (tags.length > MOST_TAGS) throw new Invalid('tag_list', `can have at most ${MOST_TAGS} tags`)
  if (tags.some(tag => tag.length > LONGEST_TAG)) {
    throw new Invalid('tag_list', `is too long (maximum is ${LONGEST_TAG} characters for a tag)`)
  }
  return tags
}

/** Throws Invalid for a runner that could never take a build. */
export function requireWork(tags: readonly string[], runUntagged: boolean): void {
  if (runUntagged || tags.length > 0) return
  throw new Invalid('tags_list', 'can not be empty when runner is not allowed to pick untagged jobs')
}
