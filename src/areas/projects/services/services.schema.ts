import { Flag, projectParam, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'
import { SLUGS } from './kinds.js'

export const ServiceParams = Type.Object({
  ...projectParam,
  // The rule checks it, because the requirement gives its error a different name.
  slug: Text(`the name of the service: ${SLUGS.join(', ')}`, { maxLength: 255 })
})

/** The fields of all services. The rules know which service has which field. */
export const fields = {
  recipients: Type.Optional(Text('addresses that get mail, separated by white space or commas, at most 100')),
  disable_diffs: Type.Optional(Flag('of emails-on-push: true for mail without the diffs')),
  send_from_committer_email: Type.Optional(
    Flag('of emails-on-push: whether the mail comes from the address of the committer')
  ),
  add_pusher: Type.Optional(Flag('of builds-email: whether the user who pushed also gets the mail')),
  notify_only_broken_builds: Type.Optional(
    Flag('of builds-email and pipelines-email: whether only failures send mail')
  ),
  external_wiki_url: Type.Optional(Text('of external-wiki: the http or https URL of the wiki')),
  new_issue_url: Type.Optional(Text('of custom-issue-tracker: the URL for a new issue')),
  issues_url: Type.Optional(Text('of custom-issue-tracker: the URL of an issue, with `:id` in place of its number')),
  project_url: Type.Optional(Text('of custom-issue-tracker: the URL of the project there')),
  title: Type.Optional(Text('of custom-issue-tracker: the title; an empty one removes it')),
  description: Type.Optional(Text('of custom-issue-tracker: the description; an empty one removes it'))
}

export const ServiceBody = Type.Object(fields, {
  title: 'ServiceBody',
  description: 'The fields of a service. A change keeps the optional fields that it does not name.'
})
export type ServiceBody = Static<typeof ServiceBody>
