import { testAccess } from '../../../access/matrix.js'
import { access as accessRequests } from './access-requests.access.js'
import { access as members } from './members.access.js'

testAccess([members, accessRequests])
