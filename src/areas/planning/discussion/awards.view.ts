// "Award emoji".
import { described, IdOf, Moment, OneOf, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'
import { viewUserBasic } from '../../people/users/users.record.js'
import { UserBasic } from '../../people/users/users.view.js'
import type { AwardRow } from './awards.queries.js'

export const Award = Type.Object(
  {
    id: IdOf('the award'),
    name: Text('the name of the emoji, without colons'),
    user: described(UserBasic, 'the user who gave it'),
    created_at: Moment('when it was given'),
    updated_at: Moment('the same'),
    awardable_id: IdOf('the record that it was given to'),
    awardable_type: OneOf(['Issue', 'MergeRequest', 'Snippet', 'Note'], 'AwardableType', 'the kind of that record')
  },
  { title: 'AwardEmoji', description: 'An emoji that somebody gave to something.' }
)

export const viewAward = (award: AwardRow): Static<typeof Award> => ({
  id: award.id,
  name: award.name,
  user: viewUserBasic({
    id: award.user_id,
    name: award.user_name,
    username: award.user_username,
    state: award.user_state
  }),
  created_at: award.created_at,
  updated_at: award.updated_at,
  awardable_id: award.awardable_id,
  awardable_type: award.awardable_type
})
