import { Flag, projectParam, Text } from '../../lib/schema.js'
import { type Static, Type } from '../../lib/type.js'
import { SLUGS } from './kinds.js'

export const ServiceParams = Type.Object({
  ...projectParam,
  // The rule judges it, because the requirement gives its error another name.
  slug: Text(`the name of the service: ${SLUGS.join(', ')}`, { maxLength: 255 })
})

/** The fields of all services. The rules know which service has which. */
export const fields = {
  recipients: Type.Optional(Text('addresses that get mail, separated by white space or commas, at most 100')),
  disable_diffs: Type.Optional(Flag('of emails-on-push: whether the mail leaves out what has changed')),
  send_from_committer_email: Type.Optional(
    Flag('of emails-on-push: whether the mail comes from the address of the committer')
  ),
  add_pusher: Type.Optional(Flag('of builds-email: whether who pushed gets the mail, too')),
  notify_only_broken_builds: Type.Optional(
    Flag('of builds-email and pipelines-email: whether there is mail about failures alone')
  ),
  external_wiki_url: Type.Optional(Text('of external-wiki: the http or https URL of the wiki')),
  new_issue_url: Type.Optional(Text('of custom-issue-tracker: the URL for a new issue')),
  issues_url: Type.Optional(Text('of custom-issue-tracker: the URL of an issue, with `:id` in place of its number')),
  project_url: Type.Optional(Text('of custom-issue-tracker: the URL of the project there')),
  title: Type.Optional(Text('of custom-issue-tracker: what it is called; an empty one removes it')),
  description: Type.Optional(Text('of custom-issue-tracker: a few words about it; an empty one removes it'))
}

export const ServiceBody = Type.Object(fields, {
  title: 'ServiceBody',
  description: 'The fields of a service. Optional ones that a change does not name stay as they are.'
})
export type ServiceBody = Static<typeof ServiceBody>
