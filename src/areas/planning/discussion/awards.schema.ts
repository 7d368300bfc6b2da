import { IdOf, Paging, projectParam, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'

/** `parents` are the parameters before the awards in the path, with their descriptions. */
const withParents = (parents: readonly (readonly [param: string, what: string])[]) => ({
  ...projectParam,
  ...Object.fromEntries(parents.map(([param, what]) => [param, IdOf(what)]))
})
export const awardsParams = (parents: readonly (readonly [string, string])[]) => Type.Object(withParents(parents))
export const awardParams = (parents: readonly (readonly [string, string])[]) =>
  Type.Object({ ...withParents(parents), award_id: IdOf('the award') })
export const AwardListQuery = Type.Object(Paging)
export const AwardBody = Type.Object(
  { name: Text('the name of the emoji, without colons', { maxLength: 255 }) },
  { title: 'AwardEmojiBody', description: 'An emoji that is given to something.' }
)
export type AwardBody = Static<typeof AwardBody>
