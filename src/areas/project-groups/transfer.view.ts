// The group that a project was moved into, with its projects.
import { Type } from 'typebox'
import { Flag, IdOf, Integer, Nullable, Text } from '../../lib/schema.js'
import { Project } from '../projects/projects.view.js'

export const GroupWithProjects = Type.Object(
  {
    id: IdOf('the group'),
    name: Text('the name that people read'),
    path: Text('the first part of the paths of its projects'),
    description: Text('what the group is about'),
    visibility_level: Integer('private (0), internal (10) or public (20)'),
    avatar_url: Nullable(Text('the URL of the picture')),
    web_url: Text('the URL of the page of the group'),
    request_access_enabled: Flag('whether users may ask to become members'),
    projects: Type.Array(Project, { description: 'its projects, the newest first; at most 100' }),
    shared_projects: Type.Array(Project, {
      description: 'the projects that are shared with it, the newest first; at most 100'
    })
  },
  { title: 'GroupWithProjects', description: 'A group with its projects.' }
)
