module.exports = async function(params, context) {
  const { message, caller_name, callback_number, urgency } = params;
  
  // Sanitize inputs
  const sanitize = (s, maxLen = 500) => s ? String(s).replace(/[\x00-\x1f]/g, '').slice(0, maxLen) : '';
  const cleanMessage = sanitize(message, 1000);
  const cleanName = sanitize(caller_name, 100);
  const cleanCallback = sanitize(callback_number, 20);
  const cleanUrgency = urgency === 'urgent' ? 'urgent' : 'normal';
  
  if (!cleanMessage) {
    return { success: false, error: 'Empty message', message: "I didn't catch a message to leave. Could you repeat that?" };
  }
  
  // Step 1: ALWAYS write to call log first
  const logEntry = {
    type: 'skill.send_message',
    timestamp: new Date().toISOString(),
    caller_name: cleanName || 'Unknown',
    callback_number: cleanCallback || 'Not provided',
    message: cleanMessage,
    urgency: cleanUrgency,
    delivery_status: 'pending'
  };
  
  context.callLog.write(logEntry);
  
  // Step 2: Attempt delivery via operator's messaging channel
  let delivered = false;
  try {
    const operatorName = context.operator.name || 'operator';
    const emoji = cleanUrgency === 'urgent' ? '🚨' : '📞';
    
    const formattedMessage = [
      `${emoji} Message from a call:`,
      '',
      cleanName ? `From: ${cleanName}` : '',
      cleanCallback ? `Callback: ${cleanCallback}` : '',
      cleanUrgency === 'urgent' ? 'Priority: URGENT' : '',
      '',
      cleanMessage
    ].filter(Boolean).join('\n');
    
    await context.gateway.sendMessage(formattedMessage);
    delivered = true;
    
    // Update log with delivery success
    context.callLog.write({
      type: 'skill.send_message.delivered',
      timestamp: new Date().toISOString(),
      delivery_channel: 'openclaw_gateway'
    });
  } catch (e) {
    // Log delivery failure — don't tell caller about the specific channel
    context.callLog.write({
      type: 'skill.send_message.delivery_failed',
      timestamp: new Date().toISOString(),
      error: String(e)
    });
  }
  
  // Amber says "noted" not "sent via Telegram" — delivery channel is an implementation detail
  const spokenResponse = cleanName
    ? `Got it — I've noted your message, ${cleanName}. ${context.operator.name || 'The operator'} will get back to you.`
    : `Got it — I've noted your message. ${context.operator.name || 'The operator'} will get back to you.`;
  
  return { 
    success: true, 
    message: spokenResponse,
    result: { logged: true, delivered }
  };
};
